#!lua flags=allow-oom
-- @include clock lost
-- Notes what a worker is doing; it is forgotten by itself unless the worker says it again.
-- KEYS[1] string   the prefix of shard 0
-- ARGV[1] number   clock
-- ARGV[2] string   worker
-- ARGV[3] number   how long it counts, ms; 0 forgets it now; −1 too, and one
--                  that had not said goodbye counts as lost
-- ARGV[4] msgpack  what it is doing, opaque here
-- Returns how many workers there are
local ttl, index = tonumber(ARGV[3]), P .. 'ws'
note_silent()
if ttl > 0 then
  redis.call('SET', P .. 'w:' .. ARGV[2], ARGV[4], 'PX', ttl)
  redis.call('ZADD', index, now + ttl, ARGV[2])
  redis.call('ZREM', P .. 'wl', ARGV[2])
else
  redis.call('DEL', P .. 'w:' .. ARGV[2])
  if redis.call('ZREM', index, ARGV[2]) == 1 and ttl < 0 then note_lost(ARGV[2], now) end
end
return redis.call('ZCARD', index)
