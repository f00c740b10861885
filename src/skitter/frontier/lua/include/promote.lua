-- Requests whose wait is over go back to their queues, a hundred at a time.
local function promote()
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', P .. 'z', '-inf', now, 'LIMIT', 0, 100)) do
    local r = cmsgpack.unpack(member)
    redis.call('ZREM', P .. 'z', member)
    tally(r[3], 'de', -1)
    requeue(r[2], r[3], r[4], r[5])
  end
end
