#!lua flags=allow-oom
-- Drops an ended job's record at its home, once its shards have dropped theirs.
-- KEYS[1] string  the home shard's prefix
-- ARGV[1] string  no
-- Returns 1 if there was one
local P, no = KEYS[1], ARGV[1]
for _, index in ipairs({'live', 'exp', 'tell', 'chg', 'ended', 'old'}) do redis.call('ZREM', P .. index, no) end
redis.call('SREM', P .. 'maybe', no)
return redis.call('UNLINK', P .. 'J:' .. no, P .. 'hold:' .. no)
