#!lua flags=allow-oom
-- Page quota leaves a job's home for a shard. What was granted is a total that only grows, so that a
-- grant whose message is lost is told again, and counts once.
-- KEYS[1] string  the home shard's prefix
-- ARGV[1] string  no
-- ARGV[2] number  the shard
-- ARGV[3] number  how much is wanted
-- ARGV[4] number  the total that the shard has given back so far
-- Returns the total granted to this shard so far
local key, mine, back = KEYS[1] .. 'J:' .. ARGV[1], 'g:' .. ARGV[2], 'x:' .. ARGV[2]
local flat, left = redis.call('HGETALL', key), 0
local fields = {}
for i = 1, #flat, 2 do fields[flat[i]] = flat[i + 1] end
fields[back] = math.max(tonumber(fields[back]) or 0, tonumber(ARGV[4]))
left = tonumber(fields.limit) or 0
for name, value in pairs(fields) do
  if string.sub(name, 1, 2) == 'g:' then left = left - tonumber(value) end
  if string.sub(name, 1, 2) == 'x:' then left = left + tonumber(value) end
end
local total = (tonumber(fields[mine]) or 0) + math.max(0, math.min(left, tonumber(ARGV[3])))
redis.call('HSET', key, mine, total, back, fields[back])
return total
