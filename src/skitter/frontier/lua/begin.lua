#!lua flags=allow-oom
-- Sets a shard up at first use, and marks a restart of its server: nothing is leased for one lease
-- time, since leases that an unsynced write forgot may still be in workers' hands.
-- Clients run it before they load any other script, so none runs on a restarted server before it.
-- KEYS[1] string   the shard's prefix
-- ARGV[1] number   a test's clock in ms, or ''
-- ARGV[2] string   the server's run id
-- ARGV[3] number   how many shards there are
-- ARGV[4] msgpack  settings of the shard {name = value}
-- ARGV[5] '0'|'1'  whether these settings replace those that stand
-- ARGV[6] '0'|'1'  whether the server syncs every write before it answers, so that it forgot nothing
-- Returns {shards on record, setting, value, …}: what stands now
local META = KEYS[1] .. 'm'
local meta = redis.call('HMGET', META, 'run', 'shards', 'raw', 'off', 'lease')
if meta[2] and meta[2] ~= ARGV[3] then return {meta[2]} end
local settings = cmsgpack.unpack(ARGV[4])
if not meta[5] or ARGV[5] == '1' then
  for name, value in pairs(settings) do redis.call('HSET', META, name, value) end
end
if meta[1] ~= ARGV[2] then
  redis.call('HSET', META, 'run', ARGV[2], 'shards', ARGV[3])
  if meta[1] and ARGV[6] ~= '1' then
    local time = redis.call('TIME')
    local raw = tonumber(ARGV[1]) or tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
    raw = math.max(raw, tonumber(meta[3]) or 0)
    local lease = tonumber(redis.call('HGET', META, 'lease'))
    redis.call('HSET', META, 'hold', raw + (tonumber(meta[4]) or 0) + lease)
  end
end
local reply = {ARGV[3]}
for name in pairs(settings) do
  reply[#reply + 1] = name
  reply[#reply + 1] = redis.call('HGET', META, name)
end
return reply
