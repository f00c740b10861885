#!lua flags=allow-oom
-- Notes at a job's home that a shard will hold requests of it, before that shard does: whoever
-- changes the job later tells that shard too, and a completer that did not know of it starts anew.
-- KEYS[1] string  the home shard's prefix
-- ARGV[1] string  no
-- ARGV[2] number  the shard
-- Returns the home record as a flat array, or {} if there is none
local key = KEYS[1] .. 'J:' .. ARGV[1]
if redis.call('EXISTS', key) == 0 then return {} end
if redis.call('HSETNX', key, 'at:' .. ARGV[2], 1) == 1 then redis.call('HINCRBY', key, 'shards', 1) end
return redis.call('HGETALL', key)
