-- Takes over the oldest batch whose time has come: whoever had it is gone, or stuck.
-- KEYS[1] zset    batches in hand, by when each is given up (server ms)
-- ARGV[1] string  what a batch's key begins with
-- ARGV[2] number  for how long it is in hand, ms
-- Returns the batch's name, and a flat list of fields and messages; nothing if there is none
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local found = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, 1)
if #found == 0 then return {} end
redis.call('ZADD', KEYS[1], now + ARGV[2], found[1])
return {found[1], redis.call('HGETALL', ARGV[1] .. found[1])}
