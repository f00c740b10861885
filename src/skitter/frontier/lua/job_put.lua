#!lua flags=allow-oom
-- @include clock
-- Writes a job's record into a shard, unless a newer one stands there, and notes what the caretakers
-- have to do about the change.
-- KEYS[1] string   the shard's prefix
-- ARGV[1] number   clock
-- ARGV[2] string   no
-- ARGV[3] number   version
-- ARGV[4] string   state: r running, p paused, e ended
-- ARGV[5] msgpack  {lane, priority, scope, robots, delay, concurrency, per_host, limited, expires}
-- Returns 1 if it was written
local no, key = ARGV[2], P .. 'j:' .. ARGV[2]
local was = redis.call('HMGET', key, 'v', 's', 'spec')
if was[1] and tonumber(was[1]) > tonumber(ARGV[3]) then return 0 end
redis.call('HSET', key, 'v', ARGV[3], 's', ARGV[4], 'spec', ARGV[5])
if ARGV[4] == 'e' then
  redis.call('SADD', P .. 'sweep', no)
elseif was[3] and cmsgpack.unpack(was[3]).priority ~= cmsgpack.unpack(ARGV[5]).priority then
  redis.call('SADD', P .. 'sweep', no)
end
if ARGV[4] ~= 'p' and redis.call('EXISTS', P .. 'p:' .. no) == 1 then redis.call('SADD', P .. 'unpark', no) end
return 1
