#!lua flags=allow-oom
-- Drops what a shard keeps of an ended job that holds nothing here any more: record, counters, errors,
-- budgets, cookie jars. Asked with '0' it only says whether it could.
-- KEYS[1] string   the shard's prefix
-- ARGV[1] string   no
-- ARGV[2] '0'|'1'  whether to drop it
-- Returns what there still is of it ('running', 'leased', 'unswept', 'dead letters'), 'more' if jars are
--         left to be dropped by another call, or '' when nothing is left
local P, no = KEYS[1], ARGV[1]
local c = redis.call('HMGET', P .. 'j:' .. no, 's', 'qd', 'le', 'de')
if c[1] and c[1] ~= 'e' then return 'running' end
if (tonumber(c[3]) or 0) ~= 0 then return 'leased' end
if (tonumber(c[2]) or 0) + (tonumber(c[4]) or 0) ~= 0 then return 'unswept' end
if redis.call('SISMEMBER', P .. 'sweep', no) == 1 then return 'unswept' end
if redis.call('EXISTS', P .. 'xj:' .. no) == 1 then return 'dead letters' end
if ARGV[2] ~= '1' then return '' end
for _, jar in ipairs(redis.call('SPOP', P .. 'k:' .. no, 1000)) do
  redis.call('UNLINK', P .. 'k:' .. no .. ':' .. jar)
end
if redis.call('EXISTS', P .. 'k:' .. no) == 1 then return 'more' end
redis.call('UNLINK', P .. 'j:' .. no, P .. 'f:' .. no, P .. 'b:' .. no, P .. 'p:' .. no)
redis.call('SREM', P .. 'unpark', no)
redis.call('SREM', P .. 'maybe', no)
return ''
