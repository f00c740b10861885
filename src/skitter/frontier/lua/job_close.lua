#!lua flags=allow-oom
-- @include clock
-- First half of completion: a shard whose counters are still those that the completer read takes no
-- more requests for the job until its home has decided.
-- KEYS[1] string  the shard's prefix
-- ARGV[1] number  clock
-- ARGV[2] string  no
-- ARGV[3] string  accepted, as read
-- Returns 1 if it is closed now
local key = P .. 'j:' .. ARGV[2]
local c = redis.call('HMGET', key, 's', 'a', 'dn', 'bu', 'di')
local settled = (tonumber(c[3]) or 0) + (tonumber(c[4]) or 0) + (tonumber(c[5]) or 0)
if c[1] ~= 'r' and c[1] ~= 'c' then return 0 end
if (tonumber(c[2]) or 0) ~= tonumber(ARGV[3]) or settled ~= tonumber(ARGV[3]) then return 0 end
redis.call('HSET', key, 's', 'c')
return 1
