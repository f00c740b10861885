#!lua flags=allow-oom
-- Writes down what a job's spider asks of a run as a whole; what was said first stays.
-- KEYS[1] string  the home shard's prefix
-- ARGV[1] string  no
-- ARGV[2] JSON    what it asks
-- Returns 1, or 0 if there is no such job
local key = KEYS[1] .. 'J:' .. ARGV[1]
if redis.call('EXISTS', key) == 0 then return 0 end
redis.call('HSETNX', key, 'declared', ARGV[2])
return 1
