-- Server time that never goes back, and the shard's settings, for every script.
-- KEYS[1] string  the shard's prefix; every other key is derived from it
-- ARGV[1] number  a test's clock in ms, or '' for the server's own
local P = KEYS[1]
local META = P .. 'm'

local SETTINGS = {'lease', 'turn', 'delay', 'conc', 'factor', 'max_delay', 'max_wait', 'alone', 'crashes', 'idle'}
local kept = redis.call('HMGET', META, 'raw', 'off', 'hold', 'nap', unpack(SETTINGS))
local CFG = {}
for i = 1, #SETTINGS do CFG[SETTINGS[i]] = tonumber(kept[i + 4]) end
if not CFG.lease then return redis.error_reply('NOSHARD this shard has not been set up') end

local raw = tonumber(ARGV[1])
local TICK = raw and 0 or 1  -- the server's time is cut to whole ms: it may be this much later
if not raw then
  local time = redis.call('TIME')
  raw = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
local last, off = tonumber(kept[1]) or raw, tonumber(kept[2]) or 0
if raw < last then
  off = off + last - raw
  redis.call('HSET', META, 'off', off)
end
local now = raw + off
local NOW = string.format('%.0f', now)  -- as text once: a number is printed anew at each call
-- No lease is handed out before HOLD (a restarted server), none is reaped before NAP (a leap in time).
local HOLD, NAP = tonumber(kept[3]) or 0, tonumber(kept[4]) or 0
if raw - last > CFG.lease / 2 then
  NAP = now + CFG.lease
  redis.call('HSET', META, 'nap', NAP)
end
if raw ~= tonumber(kept[1]) then redis.call('HSET', META, 'raw', raw) end
