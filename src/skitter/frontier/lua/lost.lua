#!lua flags=allow-oom
-- @include clock lost
-- Which workers went without a word, lately.
-- KEYS[1] string  the prefix of shard 0
-- ARGV[1] number  clock
-- ARGV[2] number  how far to look back, ms
-- Returns {worker, ms ago, …}
note_silent()
redis.call('ZREMRANGEBYSCORE', P .. 'wl', '-inf', string.format('%.0f', now - 86400000))
local since = string.format('%.0f', now - tonumber(ARGV[2]))
local found = redis.call('ZRANGEBYSCORE', P .. 'wl', since, '+inf', 'WITHSCORES')
for i = 2, #found, 2 do found[i] = math.max(0, math.floor(now - tonumber(found[i]))) end
return found
