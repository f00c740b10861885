#!lua flags=allow-oom
-- @include clock
-- A fenced lock: whoever holds it has a number that no earlier holder has.
-- KEYS[1] string  the shard's prefix
-- ARGV[1] number  clock
-- ARGV[2] string  the lock's name
-- ARGV[3] string  who asks
-- ARGV[4] number  how long it is to hold, ms; 0 lets go
-- Returns the fence, or 0 if another holds it
local key = P .. 'lock:' .. ARGV[2]
local held = redis.call('HMGET', key, 'owner', 'until', 'fence')
local mine = held[1] == ARGV[3]
if not mine and held[1] and tonumber(held[2]) > now then return 0 end
local fence = tonumber(held[3]) or 0
if not mine then fence = fence + 1 end
if tonumber(ARGV[4]) > 0 then
  redis.call('HSET', key, 'owner', ARGV[3], 'until', now + tonumber(ARGV[4]), 'fence', fence)
else
  redis.call('HDEL', key, 'owner', 'until')
end
return fence
