#!lua flags=allow-oom
-- @include clock
-- Takes the name that a unique job has for itself while it lives, or gives it up. Runs on the first
-- shard.
-- KEYS[1] string  the shard's prefix
-- ARGV[1] number  clock
-- ARGV[2] string  the name: a digest of what is unique
-- ARGV[3] string  the id of the job that wants it, or '' for nobody
-- ARGV[4] string  the id of a job whose it is no more, or ''
-- Returns {the id of the job that has it, for how long (ms)}, or {'', 0} if it is the caller's now
local has = redis.call('HGET', P .. 'uq', ARGV[2])
local since, id = string.match(has or '', '^(%d+) (.*)$')
if id and id ~= ARGV[4] then return {id, now - tonumber(since)} end
if ARGV[3] ~= '' then
  redis.call('HSET', P .. 'uq', ARGV[2], NOW .. ' ' .. ARGV[3])
elseif id then
  redis.call('HDEL', P .. 'uq', ARGV[2])
end
return {'', 0}
