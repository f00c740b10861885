#!lua
-- Gives a job's id its short number, once. Runs on the first shard, which keeps the register.
-- KEYS[1] string  the shard's prefix
-- ARGV[1] string  the job's id
-- Returns {no, 1 if it is new}
local P = KEYS[1]
local no = redis.call('HGET', P .. 'ids', ARGV[1])
if no then return {no, 0} end
local n, digits, text = redis.call('INCR', P .. 'no'), '0123456789abcdefghijklmnopqrstuvwxyz', ''
while n > 0 do
  local digit = n % 36
  text = string.sub(digits, digit + 1, digit + 1) .. text
  n = (n - digit) / 36
end
redis.call('HSET', P .. 'ids', ARGV[1], text)
redis.call('HSET', P .. 'nos', text, ARGV[1])
return {text, 1}
