#!lua flags=allow-oom
-- @include clock
-- Ended jobs of this home whose time has come: to be seen to, or to be forgotten.
-- KEYS[1] string  the home shard's prefix
-- ARGV[1] number  clock
-- ARGV[2] string  the index: 'ended' or 'old'
-- ARGV[3] number  how many at the most
-- Returns {no, …}, the longest due first
return redis.call('ZRANGEBYSCORE', P .. ARGV[2], '-inf', now, 'LIMIT', 0, ARGV[3])
