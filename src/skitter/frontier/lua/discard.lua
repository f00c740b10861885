#!lua flags=allow-oom
-- @include session clock letters
-- Throws dead letters away, also on a server that has no room left.
-- KEYS[1] string   the shard's prefix
-- ARGV[1..3]       clock, session, sequence
-- ARGV[4] msgpack  {id, …}
-- Returns {n, …}: 1 done, 0 no such letter
local answer = {}
for i, id in ipairs(cmsgpack.unpack(ARGV[4])) do
  local kept = redis.call('HGET', P .. 'x', id)
  answer[i] = kept and 1 or 0
  if kept then drop_letter(id, cmsgpack.unpack(kept)[2]) end
end
return finish(answer)
