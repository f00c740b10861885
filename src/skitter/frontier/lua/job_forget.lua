#!lua flags=allow-oom
-- Drops what a shard keeps of an ended job that holds nothing here any more.
-- KEYS[1] string  the shard's prefix
-- ARGV[1] string  no
-- Returns 1 if it is gone, 0 if there is still something of it
local P, no = KEYS[1], ARGV[1]
local c = redis.call('HMGET', P .. 'j:' .. no, 's', 'qd', 'le', 'de')
if not c[1] then return 1 end
if c[1] ~= 'e' then return 0 end
for i = 2, 4 do if (tonumber(c[i]) or 0) ~= 0 then return 0 end end
redis.call('UNLINK', P .. 'j:' .. no, P .. 'f:' .. no, P .. 'b:' .. no, P .. 'p:' .. no)
redis.call('SREM', P .. 'sweep', no)
redis.call('SREM', P .. 'unpark', no)
redis.call('SREM', P .. 'maybe', no)
return 1
