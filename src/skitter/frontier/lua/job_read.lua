#!lua flags=no-writes
-- Reads jobs of this home, many at a time.
-- KEYS[1] string   the home shard's prefix
-- ARGV[1] msgpack  {no, …}
-- Returns {the job, whole (msgpack), or '' if there is none; one for each}
local found = {}
for i, no in ipairs(cmsgpack.unpack(ARGV[1])) do
  found[i] = redis.call('HGET', KEYS[1] .. 'J:' .. no, 'job') or ''
end
return found
