#!lua flags=allow-oom
-- Adds an event of a job to the stream of events, once for each version of the job's record. Runs on
-- the first shard.
-- KEYS[1] string  the shard's prefix
-- ARGV[1] string  no
-- ARGV[2] number  the version that the event tells of
-- ARGV[3] JSON    the event
-- ARGV[4] number  about how many events are kept
-- Returns the event's id, or '' if this version, or a later one, was announced before
local P, no = KEYS[1], ARGV[1]
local said = tonumber(redis.call('HGET', P .. 'said', no)) or 0
if said >= tonumber(ARGV[2]) then return '' end
redis.call('HSET', P .. 'said', no, ARGV[2])
return redis.call('XADD', P .. 'events', 'MAXLEN', '~', ARGV[4], '*', 'e', ARGV[3])
