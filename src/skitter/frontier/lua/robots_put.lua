#!lua flags=allow-oom
-- @include clock host
-- Keeps what was learnt of an origin's robots.txt, for all workers. One that could be had paces its
-- host, by the longest delay that any origin of the host asks for, and ends its being exclusive.
-- KEYS[1] string   the shard's prefix
-- ARGV[1] number   clock
-- ARGV[2] string   the host
-- ARGV[3] string   the origin
-- ARGV[4] msgpack  {fresh for ms, remembered for ms, failures in a row, crawl delay ms}
-- ARGV[5] bytes    the text, compressed
-- Returns the host's delay in ms
local h, origin = host(ARGV[2]), ARGV[3]
local fresh, remembered, failures, delay = unpack(cmsgpack.unpack(ARGV[4]))
local key, delays = P .. 't:' .. origin, P .. 'td:' .. h.name
redis.call('HSET', key, 'u', string.format('%d', now + fresh), 'n', failures, 'd', delay, 'z', ARGV[5])
redis.call('HDEL', key, 'a', 'w')
redis.call('PEXPIRE', key, remembered)

local function longest()
  while true do
    local top = redis.call('ZREVRANGE', delays, 0, 0, 'WITHSCORES')
    if not top[1] then return nil end
    local till = redis.call('HGET', P .. 't:' .. top[1], 'u')
    if till and tonumber(till) > now then return tonumber(top[2]) end
    redis.call('ZREM', delays, top[1])
  end
end

if failures == 0 then
  if delay > 0 then
    redis.call('ZADD', delays, delay, origin)
    redis.call('PEXPIRE', delays, remembered)
    if redis.call('ZCARD', delays) > 1000 then redis.call('ZREMRANGEBYRANK', delays, 0, 0) end
  else
    redis.call('ZREM', delays, origin)
  end
  put(h, 'cd', longest())
  put(h, 'rk', now + fresh)
  wake(h, now)
  -- A host that waits for its robots.txt alone is looked at anew.
  for name in pairs(h.f) do
    if string.sub(name, 1, 1) == 'q' then redis.call('ZADD', P .. 'r' .. string.sub(name, 2), now, h.name) end
  end
  h.idle = not has_queues(h)
end
flush_hosts()
return delay_of(h)
