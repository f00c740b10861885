#!lua
-- @include clock
-- Writes a job's record at its home, with first holds so that it cannot complete before its seeds
-- are there. A record that stands is left as it is.
-- KEYS[1] string   the home shard's prefix
-- ARGV[1] number   clock
-- ARGV[2] string   no
-- ARGV[3] string   id
-- ARGV[4] msgpack  the job, whole
-- ARGV[5] msgpack  {priority, expires in ms or −1, page limit or −1, lane}
-- ARGV[6] msgpack  its first holds: {name, how long it holds in ms, …}
-- Returns 1 if the record is new
local key = P .. 'J:' .. ARGV[2]
if redis.call('EXISTS', key) == 1 then return 0 end
local priority, expires, limit, lane = unpack(cmsgpack.unpack(ARGV[5]))
redis.call('HSET', key, 'id', ARGV[3], 'job', ARGV[4], 's', 'r', 'v', 1, 'priority', priority, 'limit', limit,
  'lane', lane, 'created', now, 'outcome', '')
if expires >= 0 then
  redis.call('HSET', key, 'expires', now + expires)
  redis.call('ZADD', P .. 'exp', now + expires, ARGV[2])
end
local holds = cmsgpack.unpack(ARGV[6])
for i = 1, #holds, 2 do redis.call('ZADD', P .. 'hold:' .. ARGV[2], now + holds[i + 1], holds[i]) end
redis.call('ZADD', P .. 'live', now, ARGV[2])
redis.call('ZADD', P .. 'chg', 1, ARGV[2])
return 1
