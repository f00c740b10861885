#!lua flags=allow-oom
-- @include clock
-- What is known of an origin's robots.txt. Where nothing fresh is known, the first to ask is to
-- fetch it, and the others are told for how long to leave that to it.
-- KEYS[1] string   the shard's prefix
-- ARGV[1] number   clock
-- ARGV[2] string   the origin
-- ARGV[3] number   how long, in ms, the caller has to fetch it; 0: it only looks
-- ARGV[4] string   the worker that asks; its claim ends with its leases here, if it has any
-- Returns {fresh for ms, failures, another is fetching for ms, crawl delay ms, text or ''}
local key = P .. 't:' .. ARGV[2]
local kept = redis.call('HMGET', key, 'u', 'n', 'a', 'd', 'z', 'w')
local fresh = math.max(0, (tonumber(kept[1]) or 0) - now)
local failures, delay = tonumber(kept[2]) or 0, tonumber(kept[4]) or 0
if fresh > 0 then return {fresh, failures, 0, delay, kept[5] or ''} end
local busy = math.max(0, (tonumber(kept[3]) or 0) - now)
local claim = tonumber(ARGV[3])
-- Who fetches it in the turn of a lease and has none any more is dead, and was reaped.
if busy > 0 and kept[6] and redis.call('EXISTS', P .. 'l:' .. kept[6]) == 0 then busy = 0 end
if busy == 0 and claim > 0 then
  redis.call('HSET', key, 'a', string.format('%d', now + claim))
  if redis.call('EXISTS', P .. 'l:' .. ARGV[4]) == 1 then
    redis.call('HSET', key, 'w', ARGV[4])
  else
    redis.call('HDEL', key, 'w')
  end
  if redis.call('PTTL', key) < claim then redis.call('PEXPIRE', key, claim) end
end
return {0, failures, busy, delay, ''}
