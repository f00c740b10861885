#!lua flags=allow-oom
-- @include clock egresses
-- Lets one worker at a time try egresses whose cool-down is over.
-- KEYS[1] string   the shard's prefix
-- ARGV[1] number   clock
-- ARGV[2] string   the worker
-- ARGV[3] number   for how long nobody else may try, ms
-- ARGV[4] msgpack  {name, …}
-- Returns {0|1, …}: 1 where the worker may try
local answer = {}
for i, name in ipairs(cmsgpack.unpack(ARGV[4])) do
  local s = standing(name)
  local free = s.owner == ARGV[2] or s.claim <= now
  answer[i] = (s.over <= now and free) and 1 or 0
  if answer[i] == 1 and s.level > 0 then
    s.claim, s.owner = now + tonumber(ARGV[3]), ARGV[2]
    write_standing(s)
  end
end
return answer
