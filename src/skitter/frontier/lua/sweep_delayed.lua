#!lua flags=allow-oom
-- @include clock job
-- One slice of a walk over the delayed requests: drops those whose job has ended.
-- KEYS[1] string  the shard's prefix
-- ARGV[1] number  clock
-- ARGV[2] string  where the walk stands; '0' to begin
-- ARGV[3] number  about how many
-- Returns where the walk goes on; '0' at its end
local scan = redis.call('ZSCAN', P .. 'z', ARGV[2], 'COUNT', ARGV[3])
for i = 1, #scan[2], 2 do
  local no = cmsgpack.unpack(scan[2][i])[3]
  if job(no).state == 'e' and redis.call('ZREM', P .. 'z', scan[2][i]) == 1 then
    tally(no, 'de', -1)
    tally(no, 'di', 1)
  end
end
flush_tallies()
return scan[1]
