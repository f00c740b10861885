#!lua
-- @include session clock job host queue leases
-- A turn at a host without a queued request: for robots.txt, media and the like.
-- A denied permit keeps the host's next turn for whoever asks again in time.
-- KEYS[1] string   the shard's prefix
-- ARGV[1..3]       clock, session, sequence
-- ARGV[4] msgpack  {worker, token, host, egress}
-- Returns {ms to wait, delay ms}: granted when there is nothing to wait for
local worker, token, name, egress = unpack(cmsgpack.unpack(ARGV[4]))
if now < HOLD then return finish({math.min(1000, HOLD - now), 0}) end
local h = host(name)
local out, clock, delay = out_of(h, egress), clock_of(h, egress), delay_of(h)
local busy = delay > 0 and out > 0 or out >= concurrency_of(h)
if busy or clock > now then
  local wait = busy and math.max(50, math.min(delay, 1000)) or clock - now
  put(h, 'pw', now + wait + 500)
  flush()
  return finish({math.ceil(wait), delay})
end
put(h, 'pw', nil)
put(h, 'o' .. suffix(egress), out + 1)
if not has_queues(h) then h.idle = true end
local r = {host = name, no = '', priority = 0, egress = egress, held = true, quota = false, entry = ''}
redis.call('HSET', P .. 'l:' .. worker, token, pack_lease(r))
redis.call('ZADD', P .. 'due', now + CFG.lease, worker .. '/' .. token)
flush()
return finish({0, delay})
