-- Takes start messages from a list, a set or a sorted set; until they are settled they lie in a batch
-- that others take over when its time has come.
-- KEYS[1] list | set | zset  the start messages
-- KEYS[2] zset               batches in hand, by when each is given up (server ms)
-- KEYS[3] hash               the new batch: its messages by number, kind and score
-- ARGV[1] number  how many at the most
-- ARGV[2] string  the batch's name
-- ARGV[3] number  for how long it is in hand, ms
-- Returns a flat list of fields and messages, as the hash has them
local kind = redis.call('TYPE', KEYS[1]).ok
local rows = {}
local function keep(letter, score, message)
  local field = string.format('%d:%s:%s', #rows / 2, letter, score)
  redis.call('HSET', KEYS[3], field, message)
  rows[#rows + 1] = field
  rows[#rows + 1] = message
end
if kind == 'none' then return rows end
if kind == 'list' then
  for _, message in ipairs(redis.call('LPOP', KEYS[1], ARGV[1])) do keep('l', 0, message) end
elseif kind == 'set' then
  for _, message in ipairs(redis.call('SPOP', KEYS[1], ARGV[1])) do keep('s', 0, message) end
elseif kind == 'zset' then
  local found = redis.call('ZPOPMAX', KEYS[1], ARGV[1])
  for i = 1, #found, 2 do keep('z', found[i + 1], found[i]) end
else
  return redis.error_reply('start messages lie in a list, a set or a sorted set, not in a ' .. kind)
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[2], now + ARGV[3], ARGV[2])
return rows
