#!lua flags=allow-oom
-- @include clock seen
-- One slice of forgetting a whole dedup scope, from its last bucket down.
-- KEYS[1] string  the shard's prefix
-- ARGV[1] number  clock
-- ARGV[2] string  the scope
-- ARGV[3] number  how many buckets at the most
-- Returns how many buckets are left
local scope = scope_of(ARGV[2])
local left = tonumber(redis.call('HGET', P .. 'd:' .. ARGV[2], 'left')) or scope.size + scope.next
local stop = math.max(0, left - tonumber(ARGV[3]))
for bucket = left - 1, stop, -1 do redis.call('UNLINK', P .. 'd:' .. ARGV[2] .. ':' .. bucket) end
if stop == 0 then
  redis.call('DEL', P .. 'd:' .. ARGV[2])
else
  redis.call('HSET', P .. 'd:' .. ARGV[2], 'left', stop)
end
return stop
