#!lua
-- @include clock job host queue promote
-- Says which hosts of some lanes could be asked now while nobody does: work that waits for workers.
-- What waits for another try is brought in first: with no worker at all nobody else would do it.
-- KEYS[1] string   the shard's prefix
-- ARGV[1] number   clock
-- ARGV[2] msgpack  {lane, …}
-- Returns {hosts that are ready, ms that the first of them has waited, ms until one is ready or a
--          request is to be tried again; −1 if nothing is there}
promote()
flush_hosts()
flush_tallies()
local ready, since, soonest = 0, now, nil
for _, lane in ipairs(cmsgpack.unpack(ARGV[2])) do
  for _, band in ipairs({'1', '2', '3'}) do
    local key = P .. 'r' .. band .. lane
    ready = ready + redis.call('ZCOUNT', key, '-inf', NOW)
    -- A host at 0 was put first in line; it says nothing about how long it has waited.
    local first = redis.call('ZRANGEBYSCORE', key, '(0', NOW, 'WITHSCORES', 'LIMIT', 0, 1)
    if first[2] then since = math.min(since, tonumber(first[2])) end
    local head = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
    if head[2] then soonest = math.min(soonest or tonumber(head[2]), tonumber(head[2])) end
  end
end
local retry = redis.call('ZRANGE', P .. 'z', 0, 0, 'WITHSCORES')
if retry[2] then soonest = math.min(soonest or tonumber(retry[2]), tonumber(retry[2])) end
return {ready, math.floor(now - since), soonest and math.max(0, math.floor(soonest - now)) or -1}
