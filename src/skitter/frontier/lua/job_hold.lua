#!lua flags=allow-oom
-- @include clock
-- Holds a job open, or lets it go: it cannot complete while a hold lasts.
-- KEYS[1] string  the home shard's prefix
-- ARGV[1] number  clock
-- ARGV[2] string  no
-- ARGV[3] string  the hold's name
-- ARGV[4] number  how long, ms; 0 lets go
-- Returns 1, or 0 if the job has ended or is not known
local live = redis.call('ZSCORE', P .. 'live', ARGV[2])
if tonumber(ARGV[4]) > 0 then
  if not live then return 0 end
  redis.call('ZADD', P .. 'hold:' .. ARGV[2], now + tonumber(ARGV[4]), ARGV[3])
else
  redis.call('ZREM', P .. 'hold:' .. ARGV[2], ARGV[3])
  redis.call('SADD', P .. 'maybe', ARGV[2])
end
return live and 1 or 0
