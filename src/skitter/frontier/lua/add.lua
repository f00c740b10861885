#!lua
-- @include session clock job host queue seen
-- Dedups requests in their job's scope and queues the new ones with their hosts, in one step:
-- nothing is seen that was not queued.
-- KEYS[1] string   the shard's prefix
-- ARGV[1..3]       clock, session, sequence
-- ARGV[4] msgpack  {no, how many requests, no, how many, …}
-- ARGV[5…]         host, fingerprint, low bits, priority, entry: five for each request
-- Returns a letter for each request: n new, k known, b over the host's budget in this job,
--         j job not known here, e job ended, p job closing (ask again)
local groups, at = cmsgpack.unpack(ARGV[4]), 5
local letters = {}

local function refusal(j)
  if j.absent then return 'j' end
  if j.state == 'e' or (j.expires and j.expires <= now) then return 'e' end
  if j.state == 'c' then return 'p' end
  return nil
end

local function over_budget(j, name, key, fingerprint)
  if not j.per_host then return false end
  local budgets = P .. 'b:' .. j.no
  if (tonumber(redis.call('HGET', budgets, name)) or 0) < j.per_host then return false end
  return redis.call('SISMEMBER', key, fingerprint) == 0
end

local function add_group(j, last)
  local scope, queues, order, added = scope_of(j.scope), {}, {}, 0
  for i = at, last, 5 do
    local name, fingerprint = ARGV[i], ARGV[i + 1]
    local key = bucket_key(scope, tonumber(ARGV[i + 2]))
    if over_budget(j, name, key, fingerprint) then
      letters[#letters + 1] = 'b'
    elseif redis.call('SADD', key, fingerprint) == 0 then
      letters[#letters + 1] = 'k'
    else
      letters[#letters + 1] = 'n'
      added = added + 1
      local id = ARGV[i + 3] .. ' ' .. name
      local q = queues[id]
      if not q then
        q = {name = name, priority = tonumber(ARGV[i + 3]), entries = {}}
        queues[id] = q
        order[#order + 1] = q
      end
      q.entries[#q.entries + 1] = ARGV[i + 4]
      if j.per_host then redis.call('HINCRBY', P .. 'b:' .. j.no, name, 1) end
    end
  end
  grow(scope, added)
  for _, q in ipairs(order) do push(host(q.name), j.no, q.priority, q.entries, false) end
  tally(j.no, 'a', added)
end

for g = 1, #groups, 2 do
  local j, last = job(groups[g]), at + 5 * groups[g + 1] - 1
  local refused = refusal(j)
  if refused then
    letters[#letters + 1] = string.rep(refused, groups[g + 1])
  else
    add_group(j, last)
  end
  at = last + 1
end
flush_hosts()
flush_tallies()
return finish(table.concat(letters))
