#!lua flags=allow-oom
-- @include clock
-- Changes a job at its home: one step and one version, however much it has queued.
-- KEYS[1] string  the home shard's prefix
-- ARGV[1] number  clock
-- ARGV[2] string  no
-- ARGV[3] string  'pause', 'resume', 'end' or 'reprioritise'
-- ARGV[4] string  the outcome ('end'), the priority ('reprioritise'), or ''
-- ARGV[5] number  the version that the record must have, or −1 for any
-- ARGV[6] number  how many shards must be attached, or −1 for any
-- Returns {'ok'|'gone'|'ended'|'held'|'moved', flat home record}
local no, verb, key = ARGV[2], ARGV[3], P .. 'J:' .. ARGV[2]
local r = redis.call('HMGET', key, 's', 'v', 'shards')
if not r[1] then return {'gone', {}} end
if r[1] == 'e' then return {'ended', redis.call('HGETALL', key)} end
local moved = tonumber(ARGV[5]) >= 0 and r[2] ~= ARGV[5]
if moved or tonumber(ARGV[6]) >= 0 and (r[3] or '0') ~= ARGV[6] then return {'moved', redis.call('HGETALL', key)} end
if verb == 'end' and ARGV[4] == 'finished' then
  redis.call('ZREMRANGEBYSCORE', P .. 'hold:' .. no, '-inf', now)
  if redis.call('EXISTS', P .. 'hold:' .. no) == 1 then return {'held', redis.call('HGETALL', key)} end
end
if verb == 'pause' then
  redis.call('HSET', key, 's', 'p')
elseif verb == 'resume' then
  redis.call('HSET', key, 's', 'r')
elseif verb == 'reprioritise' then
  redis.call('HSET', key, 'priority', ARGV[4])
else
  redis.call('HSET', key, 's', 'e', 'outcome', ARGV[4], 'ended', now)
  redis.call('ZREM', P .. 'live', no)
  redis.call('ZREM', P .. 'exp', no)
  redis.call('DEL', P .. 'hold:' .. no)
  redis.call('ZADD', P .. 'ended', now, no)
end
redis.call('HSET', key, 'by', verb)
local version = redis.call('HINCRBY', key, 'v', 1)
redis.call('ZADD', P .. 'tell', version, no)
redis.call('ZADD', P .. 'chg', version, no)
return {'ok', redis.call('HGETALL', key)}
