#!lua flags=no-writes
-- Reads hashes of this shard, many at a time.
-- KEYS[1] string   the shard's prefix
-- ARGV[1] msgpack  {name behind the prefix, …}
-- Returns {{field, value, …}, …one for each; empty where there is none}
local found = {}
for i, name in ipairs(cmsgpack.unpack(ARGV[1])) do
  found[i] = redis.call('HGETALL', KEYS[1] .. name)
end
return found
