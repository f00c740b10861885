#!lua flags=no-writes
-- The counters of many jobs in one shard.
-- KEYS[1] string   the shard's prefix
-- ARGV[1] msgpack  {no, …}
-- Returns {{queued, leased, delayed, accepted, done, buried, discarded, retries, crashes, pages}, …},
--         one for each; what is not there is false
local found = {}
for i, no in ipairs(cmsgpack.unpack(ARGV[1])) do
  found[i] = redis.call('HMGET', KEYS[1] .. 'j:' .. no, 'qd', 'le', 'de', 'a', 'dn', 'bu', 'di', 'rt', 'cr', 'pages')
end
return found
