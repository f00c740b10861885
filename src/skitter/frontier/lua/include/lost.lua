-- Workers whose heartbeat ended without a word: they are known for a day, the last two hundred.
local function note_lost(name, at)
  redis.call('ZADD', P .. 'wl', string.format('%.0f', at), name)
  redis.call('ZREMRANGEBYRANK', P .. 'wl', 0, -201)
end

local function note_silent()
  local silent = redis.call('ZRANGEBYSCORE', P .. 'ws', '-inf', NOW, 'WITHSCORES')
  for i = 1, #silent, 2 do note_lost(silent[i], tonumber(silent[i + 1])) end
  redis.call('ZREMRANGEBYSCORE', P .. 'ws', '-inf', NOW)
end
