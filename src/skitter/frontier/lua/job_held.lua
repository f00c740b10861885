#!lua flags=allow-oom
-- @include clock
-- How many holds keep a job open; those that ran out are let go.
-- KEYS[1] string  the home shard's prefix
-- ARGV[1] number  clock
-- ARGV[2] string  no
-- Returns how many
redis.call('ZREMRANGEBYSCORE', P .. 'hold:' .. ARGV[2], '-inf', now)
return redis.call('ZCARD', P .. 'hold:' .. ARGV[2])
