#!lua flags=allow-oom
-- Notes at a job's home that all its shards have heard of a version of its record.
-- KEYS[1] string  the home shard's prefix
-- ARGV[1] string  no
-- ARGV[2] number  the version
-- Returns 1 if there is nothing left to tell
local told = redis.call('ZSCORE', KEYS[1] .. 'tell', ARGV[1])
if told and tonumber(told) > tonumber(ARGV[2]) then return 0 end
redis.call('ZREM', KEYS[1] .. 'tell', ARGV[1])
return 1
