#!lua flags=no-writes
-- Ids of dead letters, the newest first, from a place on. One at the place may be gone by now.
-- KEYS[1] string   the shard's prefix
-- ARGV[1] string   the index: xt, or xj:<no>
-- ARGV[2] number   how many at the most
-- ARGV[3] number   the place: when the last one that was seen was buried, or '' for the beginning
-- ARGV[4] string   and its id
-- Returns {id, at, …}
local key = KEYS[1] .. ARGV[1]

-- By bytes, as a sorted set has them; Lua's own comparison goes by the server's locale.
local function lower(a, b)
  for i = 1, math.min(#a, #b) do
    local one, other = string.byte(a, i), string.byte(b, i)
    if one ~= other then return one < other end
  end
  return #a < #b
end

local first = 0
if ARGV[3] ~= '' then
  -- Those of one time stand in the order of their ids: halve, to the first that is lower.
  first = redis.call('ZCOUNT', key, '(' .. ARGV[3], '+inf')
  local last = redis.call('ZCOUNT', key, ARGV[3], '+inf')
  while first < last do
    local middle = math.floor((first + last) / 2)
    if lower(redis.call('ZREVRANGE', key, middle, middle)[1], ARGV[4]) then
      last = middle
    else
      first = middle + 1
    end
  end
end
return redis.call('ZREVRANGE', key, first, first + ARGV[2] - 1, 'WITHSCORES')
