#!lua flags=allow-oom
-- Notes at a job's home that a version of its record was dealt with: told to all its shards, or kept
-- in the store.
-- KEYS[1] string  the home shard's prefix
-- ARGV[1] string  no
-- ARGV[2] number  the version
-- ARGV[3] string  the index of those that wait for it: 'tell' or 'chg'
-- Returns 1 if there is nothing left to do
local index = KEYS[1] .. ARGV[3]
local told = redis.call('ZSCORE', index, ARGV[1])
if told and tonumber(told) > tonumber(ARGV[2]) then return 0 end
redis.call('ZREM', index, ARGV[1])
return 1
