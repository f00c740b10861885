#!lua flags=allow-oom
-- @include clock job host queue
-- Puts queues of a resumed job, or of one that has page quota again, back into their hosts' indexes;
-- those of an ended job are emptied.
-- KEYS[1] string  the shard's prefix
-- ARGV[1] number  clock
-- ARGV[2] string  the job's no
-- ARGV[3] number  how many at the most
-- Returns how many are still parked that may go on; a job without such is not to be unparked any more
local no, parked = ARGV[2], P .. 'p:' .. ARGV[2]
local j = job(no)
if j.state == 'p' or (j.state ~= 'e' and j.limited and j.pool <= 0) then
  redis.call('SREM', P .. 'unpark', no)
  return 0
end
for _, member in ipairs(redis.call('SPOP', parked, ARGV[3])) do
  local priority, name = string.match(member, '^(%S+) (.*)$')
  local h = host(name)
  if j.state == 'e' then discard_queue(h, no, priority) end
  unpark(h, no, priority)
  if redis.call('EXISTS', queue_key(name, no, priority)) == 1 then add_ref(h, no, tonumber(priority)) end
end
flush_hosts()
flush_tallies()
local left = redis.call('SCARD', parked)
if left == 0 then redis.call('SREM', P .. 'unpark', no) end
return left
