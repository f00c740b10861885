#!lua flags=allow-oom
-- @include clock job host queue leases
-- Takes back leases that ran out, or all those of a worker that is known to be dead. Its hosts'
-- clocks start anew, since nobody knows when they were last asked.
-- KEYS[1] string  the shard's prefix
-- ARGV[1] number  clock
-- ARGV[2] string  a dead worker, or '' for every lease that ran out
-- ARGV[3] number  how many at the most
-- Returns {reaped, buried}
local most, reaped, buried = tonumber(ARGV[3]), 0, 0

local function take_back(worker, token, r)
  local h = host(r.host)
  if r.held then
    -- It may have read a robots.txt that asks for a long pause, and died before it could say so.
    local blind = job(r.no).robots and robots_unknown(h) and CFG.lease or 0
    give_back(h, r.egress, {0, -1, -1, blind})
  end
  drop_lease(worker, token, r)
  reaped = reaped + 1
  if r.no == '' then return end
  local attempts, crashes = counts(r.entry)
  r.entry = with_counts(r.entry, attempts, crashes + 1)
  tally(r.no, 'cr', 1)
  if crashes + 1 > CFG.crashes and job(r.no).state ~= 'e' then
    buried = buried + 1
    bury(token, r, 'crashed', 'its worker died ' .. crashes + 1 .. ' times')
  else
    requeue(r.host, r.no, r.priority, r.entry)
  end
end

-- Each goes to the front of its queue, so the last one handed out comes first here: a batch keeps
-- its order.
local function reap_worker(worker)
  local flat, found = redis.call('HGETALL', P .. 'l:' .. worker), {}
  for i = 1, math.min(#flat, 2 * most), 2 do found[#found + 1] = {flat[i], flat[i + 1]} end
  table.sort(found, function(a, b) return a[1] > b[1] end)
  for _, lease in ipairs(found) do take_back(worker, lease[1], read_lease(lease[2])) end
end

local function reap_due()
  local due = redis.call('ZRANGEBYSCORE', P .. 'due', '-inf', now, 'LIMIT', 0, most)
  for i = #due, 1, -1 do
    local worker, token = string.match(due[i], '^(.*)/([^/]+)$')
    local kept = redis.call('HGET', P .. 'l:' .. worker, token)
    if kept then take_back(worker, token, read_lease(kept)) else redis.call('ZREM', P .. 'due', due[i]) end
  end
end

if ARGV[2] ~= '' then
  reap_worker(ARGV[2])
elseif now >= NAP then
  reap_due()
end
flush()
return {reaped, buried}
