#!lua flags=allow-oom
-- @include clock job host queue
-- Hosts as they are now, and how many requests are queued at each.
-- KEYS[1] string   the shard's prefix
-- ARGV[1] number   clock
-- ARGV[2] msgpack  {host, …}
-- Returns {queued, {field, value, …}, …two for each}
local found = {}
for _, name in ipairs(cmsgpack.unpack(ARGV[2])) do
  found[#found + 1] = queued_at(host(name))
  found[#found + 1] = redis.call('HGETALL', P .. 'h:' .. name)
end
return found
