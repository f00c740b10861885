#!lua flags=allow-oom
-- @include session clock egresses
-- Notes what egresses did; after so many failures in a row one cools down, each time for longer.
-- The first failure after a cool-down begins the next, the first success ends all that.
-- KEYS[1] string   the shard's prefix
-- ARGV[1..3]       clock, session, sequence
-- ARGV[4] msgpack  {{{name, 0 failed | 1 fine}, …}, {failures before a cool-down, its ms, its most ms}}
-- Returns {name, failures, cool-downs in a row, ms until it is over, …four for each event}
local events, rules = unpack(cmsgpack.unpack(ARGV[4]))
local before, cool, most = unpack(rules)
local reply = {}

local function fail(s)
  s.fails, s.claim, s.owner = s.fails + 1, 0, ''
  if s.level > 0 or s.fails >= before then
    s.fails, s.level = 0, math.min(s.level + 1, 30)
    s.over = now + math.min(most, cool * 2 ^ (s.level - 1))
  end
  change_standing(s)
end

for _, event in ipairs(events) do
  local s = standing(event[1])
  -- What was sent before a cool-down and comes back during it says nothing new.
  if s.over <= now then
    if event[2] == 0 then
      fail(s)
    elseif s.fails > 0 or s.level > 0 then
      s.fails, s.level, s.over = 0, 0, 0
      change_standing(s)
    end
  end
  tell_standing(reply, s)
end
return finish(reply)
