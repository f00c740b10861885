#!lua
-- @include session clock job host queue seen
-- Dedups requests in their job's scope and queues the new ones with their hosts, in one step:
-- nothing is seen that was not queued.
-- KEYS[1] string   the shard's prefix
-- ARGV[1..3]       clock, session, sequence
-- ARGV[4] msgpack  {no, priority, host, how many, …four for each queue that requests are for}
-- ARGV[5…]         fingerprint, entry: two for each request, queue by queue
-- Returns a letter for each request: n new, k known, b over the host's budget in this job,
--         j job not known here, e job ended, p job closing (ask again)
local queues, at = cmsgpack.unpack(ARGV[4]), 5
local letters, scopes, entries = {}, {}, {}
readied = {}

local function refusal(j)
  if j.absent then return 'j' end
  if j.state == 'e' or (j.expires and j.expires <= now) then return 'e' end
  if j.state == 'c' then return 'p' end
  return nil
end

local function over_budget(j, name, key, fingerprint)
  local budgets = P .. 'b:' .. j.no
  if (tonumber(redis.call('HGET', budgets, name)) or 0) < j.per_host then return false end
  return redis.call('SISMEMBER', key, fingerprint) == 0
end

local function scope_for(j, coming)
  local scope = scopes[j.scope]
  if not scope then
    scope = scope_of(j.scope)
    scope.added = 0
    scopes[j.scope] = scope
    make_room(scope, coming)
  end
  return scope
end

local function add_to(j, priority, name, last)
  local scope, new = scope_for(j, (#ARGV - 4) / 2), 0
  for i = at, last, 2 do
    local fingerprint = ARGV[i]
    local key = bucket_key(scope, remainder(fingerprint, 2 * scope.size))
    if j.per_host and over_budget(j, name, key, fingerprint) then
      letters[#letters + 1] = 'b'
    elseif redis.call('SADD', key, fingerprint) == 0 then
      letters[#letters + 1] = 'k'
    else
      letters[#letters + 1] = 'n'
      new = new + 1
      entries[new] = ARGV[i + 1]
      if j.per_host then redis.call('HINCRBY', P .. 'b:' .. j.no, name, 1) end
    end
  end
  if new == 0 then return end
  scope.added = scope.added + new
  push(name, j.no, priority, entries, new, false)
  tally(j.no, 'a', new)
end

for q = 1, #queues, 4 do
  local j, last = job(queues[q]), at + 2 * queues[q + 3] - 1
  local refused = refusal(j)
  if refused then
    letters[#letters + 1] = string.rep(refused, queues[q + 3])
  else
    add_to(j, queues[q + 1], queues[q + 2], last)
  end
  at = last + 1
end
for _, scope in pairs(scopes) do grow(scope, scope.added) end
flush_hosts()
flush_ready()
flush_tallies()
return finish(table.concat(letters))
