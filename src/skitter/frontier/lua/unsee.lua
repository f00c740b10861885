#!lua flags=allow-oom
-- @include clock seen
-- Forgets fingerprints of a scope, so that their URLs count as new when they are met again.
-- KEYS[1] string   the shard's prefix
-- ARGV[1] number   clock
-- ARGV[2] string   the scope
-- ARGV[3] msgpack  {fingerprint, …}
-- Returns how many were known
local scope, given, known = scope_of(ARGV[2]), cmsgpack.unpack(ARGV[3]), 0
for _, fingerprint in ipairs(given) do
  known = known + redis.call('SREM', bucket_key(scope, remainder(fingerprint, 2 * scope.size)), fingerprint)
end
if known > 0 then redis.call('HINCRBY', P .. 'd:' .. ARGV[2], 'n', -known) end
return known
