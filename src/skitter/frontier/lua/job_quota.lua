#!lua flags=allow-oom
-- @include clock
-- A shard learns the total of page quota that its job's home has granted it, or gives back what lies idle.
-- KEYS[1] string  the shard's prefix
-- ARGV[1] number  clock
-- ARGV[2] string  no
-- ARGV[3] number  the total granted, or −1 to give back what is in the pool
-- Returns {pool, total given back}
local key, no = P .. 'j:' .. ARGV[2], ARGV[2]
local q = redis.call('HMGET', key, 'qr', 'qx', 'qu', 'ql')
for i = 1, 4 do q[i] = tonumber(q[i]) or 0 end
if tonumber(ARGV[3]) >= 0 then
  q[1] = math.max(q[1], tonumber(ARGV[3]))
  redis.call('HSET', key, 'qr', q[1])
else
  q[2] = q[1] - q[3] - q[4]
  redis.call('HSET', key, 'qx', q[2])
end
local pool = q[1] - q[2] - q[3] - q[4]
if pool > 0 and redis.call('EXISTS', P .. 'p:' .. no) == 1 then redis.call('SADD', P .. 'unpark', no) end
return {pool, q[2]}
