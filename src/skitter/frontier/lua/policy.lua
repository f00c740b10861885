#!lua flags=allow-oom
-- @include clock job host queue
-- Sets a host's policy while it is being crawled. It holds from the next turn on; workers with a
-- batch in hand hear of it at their next renewal.
-- KEYS[1] string   the shard's prefix
-- ARGV[1] number   clock
-- ARGV[2] string   the host
-- ARGV[3] msgpack  {field = number, or false to go back to the default}
-- Returns the host's delay in ms
local h = host(ARGV[2])
for name, value in pairs(cmsgpack.unpack(ARGV[3])) do
  if name == 'robots_ms' then name, value = 'rk', value and now + value end
  put(h, name, value)
end
wake(h, now)
-- A host that waits for another reason, such as its budget, is looked at anew as well.
for name in pairs(h.f) do
  if string.sub(name, 1, 1) == 'q' then redis.call('ZADD', P .. 'r' .. string.sub(name, 2), now, h.name) end
end
h.idle = not has_queues(h)
flush_hosts()
return delay_of(h)
