#!lua flags=allow-oom
-- @include clock
-- Jobs whose time is over.
-- KEYS[1] string  the home shard's prefix
-- ARGV[1] number  clock
-- Returns {no, …}, a hundred at the most
return redis.call('ZRANGEBYSCORE', P .. 'exp', '-inf', now, 'LIMIT', 0, 100)
