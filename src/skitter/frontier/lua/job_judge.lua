#!lua flags=allow-oom
-- Writes down, once, what came of looking at an ended job as a whole.
-- KEYS[1] string  the home shard's prefix
-- ARGV[1] string  no
-- ARGV[2] string  the outcome that it has by that, or '' for the one it ended with
-- ARGV[3] JSON    what it did not pass
-- Returns the home record as a flat array, or {} if there is none
local P, no, key = KEYS[1], ARGV[1], KEYS[1] .. 'J:' .. ARGV[1]
local r = redis.call('HMGET', key, 's', 'judged')
if r[1] ~= 'e' then return {} end
if not r[2] then
  redis.call('HSET', key, 'judged', 1, 'failures', ARGV[3])
  if ARGV[2] ~= '' then
    redis.call('HSET', key, 'outcome', ARGV[2])
    local version = redis.call('HINCRBY', key, 'v', 1)
    redis.call('ZADD', P .. 'tell', version, no)
    redis.call('ZADD', P .. 'chg', version, no)
  end
end
return redis.call('HGETALL', key)
