#!lua flags=allow-oom
-- @include clock
-- Notes how far an ended job is seen to, and when it is looked at next.
-- KEYS[1] string  the home shard's prefix
-- ARGV[1] number  clock
-- ARGV[2] string  no
-- ARGV[3] string  a note's name, or ''
-- ARGV[4] string  what it says
-- ARGV[5] string  the index that it is in from now on: 'ended' or 'old'; '' leaves it where it is
-- ARGV[6] number  in how many ms it is due there
-- Returns 1, or 0 if there is no such ended job
local no, key = ARGV[2], P .. 'J:' .. ARGV[2]
if redis.call('HGET', key, 's') ~= 'e' then return 0 end
if ARGV[3] ~= '' then redis.call('HSET', key, 'n:' .. ARGV[3], ARGV[4]) end
if ARGV[5] ~= '' then
  redis.call('ZREM', P .. 'ended', no)
  redis.call('ZREM', P .. 'old', no)
  redis.call('ZADD', P .. ARGV[5], now + tonumber(ARGV[6]), no)
end
return 1
