#!lua flags=no-writes
-- Copies keys of a shard as they are, until there is much.
-- KEYS[1] string   the shard's prefix
-- ARGV[1] number   how many bytes are enough for one answer
-- ARGV[2] msgpack  {name behind the prefix, …}
-- Returns {how many were looked at, name, when it expires in ms or −1, the server's own form of it, …}
local names, enough, found, size = cmsgpack.unpack(ARGV[2]), tonumber(ARGV[1]), {0}, 0
for i, name in ipairs(names) do
  local key = KEYS[1] .. name
  local form = redis.call('DUMP', key)
  if form then
    local n = #found
    found[n + 1], found[n + 2], found[n + 3] = name, redis.call('PEXPIRETIME', key), form
    size = size + #form
  end
  found[1] = i
  if size >= enough then break end
end
return found
