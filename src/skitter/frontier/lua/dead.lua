#!lua flags=no-writes
-- Reads dead letters.
-- KEYS[1] string   the shard's prefix
-- ARGV[1]          not used
-- ARGV[2] msgpack  {id, …}
-- Returns {{id, host, no, priority, entry, reason, detail, at}, …}; those that are gone are left out
local found = {}
for _, id in ipairs(cmsgpack.unpack(ARGV[2])) do
  local kept = redis.call('HGET', KEYS[1] .. 'x', id)
  if kept then
    local letter = cmsgpack.unpack(kept)
    table.insert(letter, 1, id)
    for i = 1, #letter do letter[i] = tostring(letter[i]) end
    found[#found + 1] = letter
  end
end
return found
