-- How egresses stand, each as a whole ('egress') and at hosts that banned it ('egress host').
-- Kept in hash eg as 'fails level over claim owner'; what stands well is not kept.
local FORGET, MOST = 3600000, 20000

local function standing(name)
  local kept = redis.call('HGET', P .. 'eg', name) or ''
  local fails, level, over, claim, owner = string.match(kept, '^(%d+) (%d+) (%d+) (%d+) (.*)$')
  return {name = name, fails = tonumber(fails) or 0, level = tonumber(level) or 0,
          over = tonumber(over) or 0, claim = tonumber(claim) or 0, owner = owner or ''}
end

local function forget(names)
  for _, name in ipairs(names) do
    redis.call('HDEL', P .. 'eg', name)
    redis.call('ZREM', P .. 'ev', name)
    redis.call('ZREM', P .. 'ex', name)
  end
end

local function write_standing(s)
  if s.fails == 0 and s.level == 0 then
    redis.call('HDEL', P .. 'eg', s.name)
  else
    local text = string.format('%d %d %d %d %s', s.fails, s.level, s.over, s.claim, s.owner)
    redis.call('HSET', P .. 'eg', s.name, text)
  end
end

-- A change that all workers are to hear of; what is old, or too much, is forgotten on the way.
local function change_standing(s)
  write_standing(s)
  redis.call('ZADD', P .. 'ev', redis.call('HINCRBY', META, 'ev', 1), s.name)
  redis.call('ZADD', P .. 'ex', string.format('%d', math.max(now, s.over) + FORGET), s.name)
  forget(redis.call('ZRANGEBYSCORE', P .. 'ex', '-inf', NOW, 'LIMIT', 0, 100))
  local surplus = redis.call('ZCARD', P .. 'ex') - MOST
  if surplus > 0 then forget(redis.call('ZRANGE', P .. 'ex', 0, math.min(surplus, 100) - 1)) end
end

local function tell_standing(reply, s)
  local n = #reply
  reply[n + 1], reply[n + 2], reply[n + 3] = s.name, s.fails, s.level
  reply[n + 4] = math.max(0, s.over - now)
end
