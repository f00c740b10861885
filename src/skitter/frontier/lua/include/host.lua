-- Hosts: read once a script, changed in memory, written once at the end.
-- A host's pace is decided here and nowhere else.
local hosts = {}
local FAR = string.format('%d', now + 2 * CFG.lease)
local PACE = {pd = true, jd = true, cd = true, ad = true, ll = true}

local function host(name)
  local h = hosts[name]
  if h then return h end
  local flat = redis.call('HGETALL', P .. 'h:' .. name)
  -- Named in advance, a table has the room at once and need not grow.
  local fields = {o = nil, c = nil, ll = nil, f = nil, w = nil, rk = nil, cd = nil}
  for i = 1, #flat, 2 do fields[flat[i]] = flat[i + 1] end
  -- Runs of start() are asked of nobody: no pace, no robots.txt.
  if name == '~' then fields.pd, fields.pc, fields.rk = 0, 1000, now + CFG.lease end
  h = {name = name, f = fields, dirty = {o = nil, c = nil, ll = nil, f = nil, w = nil},
       fresh = #flat == 0, idle = nil, delay = nil}
  hosts[name] = h
  return h
end

local function field(h, name)
  return tonumber(h.f[name])
end

local function put(h, name, value)
  if value == nil then value = false end
  h.f[name] = value or nil
  h.dirty[name] = value
  if PACE[name] then h.delay = nil end
end

-- Whether a host has queues, be they parked. 113 is q.
local function has_queues(h)
  if h.f.k then return true end
  for name in pairs(h.f) do
    if string.byte(name) == 113 then return true end
  end
  return false
end

-- What a person said about a host outlives its idleness.
local function ruled(h) return h.f.pd or h.f.pc or h.f.bm or h.f.bl end

local function flush_hosts()
  local sets, dels = {}, {}
  for name, h in pairs(hosts) do
    local set, del = 0, 0
    for k, v in pairs(h.dirty) do
      if v == false then
        del = del + 1
        dels[del] = k
      else
        -- As text: the server would print a number with all the digits of a fraction.
        sets[set + 1], sets[set + 2] = k, type(v) == 'number' and string.format('%d', v) or v
        set = set + 2
      end
    end
    local key = P .. 'h:' .. name
    if set > 0 then redis.call('HSET', key, unpack(sets, 1, set)) end
    if del > 0 and not h.fresh then redis.call('HDEL', key, unpack(dels, 1, del)) end
    if h.idle and not ruled(h) then
      redis.call('PEXPIRE', key, CFG.idle)
    elseif h.idle ~= nil then
      redis.call('PERSIST', key)
    end
  end
end

-- Rankings are kept where a count passes a power of two: near enough to find the top, and cheap.
-- The busiest thousand stay in the index of a count that only grows.
local POWERS = {}
for exponent = 1, 40 do POWERS[2 ^ exponent] = true end

local function same_power(before, after)
  if after == before + 1 then return not POWERS[after] end
  local _, was = math.frexp(before)
  local _, is = math.frexp(after)
  return was == is
end

local function rank(name, index, before, after)
  if after < 2 or same_power(before, after) then return end
  local key = P .. index
  redis.call('ZADD', key, 'GT', string.format('%d', after), name)
  if index ~= 'hp' and redis.call('ZCARD', key) > 2000 then redis.call('ZREMRANGEBYRANK', key, 0, -1001) end
end

local function count(h, name, index)
  local before = field(h, name) or 0
  put(h, name, before + 1)
  rank(h.name, index, before, before + 1)
end

-- The least gap before any adaptive part: what a person, a job or the settings ask for.
local function floor_of(h)
  return field(h, 'pd') or field(h, 'jd') or CFG.delay
end

local function base_delay(h)
  local floor = floor_of(h)
  local base = math.max(floor, math.min(field(h, 'cd') or 0, CFG.max_delay))
  if floor > 0 then
    base = math.max(base, math.min(CFG.factor * (field(h, 'll') or 0), CFG.max_delay))
  end
  return base
end

local function delay_of(h)
  if not h.delay then h.delay = math.ceil(math.max(base_delay(h), field(h, 'ad') or 0)) end
  return h.delay
end

local function concurrency_of(h)
  return field(h, 'pc') or field(h, 'jc') or CFG.conc
end

local function robots_unknown(h) return (field(h, 'rk') or 0) < now end

-- One fetch at a time: a host with a delay, or one whose robots.txt is not known yet.
local function exclusive(h, robots)
  return delay_of(h) > 0 or (robots and robots_unknown(h))
end

local function suffix(egress)
  if egress == 'direct' then return '' end
  return ':' .. egress
end

local function out_of(h, egress) return field(h, 'o' .. suffix(egress)) or 0 end

-- A clock further ahead than any delay explains was written by another time: it is not believed.
local function clock_of(h, egress)
  local clock = field(h, 'c' .. suffix(egress)) or 0
  return math.min(clock, now + math.max(CFG.max_delay, CFG.max_wait, delay_of(h)))
end

-- AIMD on the rate: halved by 429 and 503, recovering in steps of a twentieth of the normal rate.
local function adapt(h, status)
  local ad = field(h, 'ad')
  if status == 429 or status == 503 then
    put(h, 'ad', math.min(CFG.max_delay, math.max(2 * delay_of(h), 1000)))
  elseif ad and status > 0 and status < 400 then
    local base = math.max(base_delay(h), 50)
    ad = math.floor(1 / (1 / ad + 1 / (20 * base)))
    put(h, 'ad', ad > base and ad or nil)
  end
end

-- Lanes that found the host busy wait in its field w; they are ready again when a turn comes back.
local function wake(h, at)
  if not h.f.w then return end
  at = string.format('%d', at)
  for lane in string.gmatch(h.f.w, '%S+') do
    if h.f['q' .. lane] then redis.call('ZADD', P .. 'r' .. lane, at, h.name) end
  end
  put(h, 'w', nil)
end

local function rest(h, lane)
  local w = h.f.w or ''
  if not string.find(w, lane, 1, true) then put(h, 'w', w == '' and lane or w .. ' ' .. lane) end
  redis.call('ZADD', P .. 'r' .. lane, FAR, h.name)
end

-- A fetch came back: `age` ms ago its response's head arrived, or the attempt failed.
-- fetch = {age, latency, status, retry after}, or nil when nothing was sent. Status 0 is a failed
-- attempt; −1 a worker that died, so that nobody knows.
local function give_back(h, egress, fetch)
  local s = suffix(egress)
  local out = math.max(0, out_of(h, egress) - 1)
  put(h, 'o' .. s, out > 0 and out or nil)
  if fetch then
    local age, latency, status, retry_after = fetch[1], fetch[2], fetch[3], fetch[4]
    if latency >= 0 then put(h, 'll', math.floor(latency)) end
    adapt(h, status)
    if status >= 0 then count(h, 'f', 'hf') end
    if status == 0 or status >= 400 then count(h, 'x', 'hx') end
    local wait = math.max(delay_of(h), math.min(retry_after, CFG.max_wait))
    local clock = now - age + wait + (wait > 0 and TICK or 0)
    put(h, 'c' .. s, math.ceil(math.max(clock_of(h, egress), clock)))
  end
  if out == 0 or (delay_of(h) <= 0 and out < concurrency_of(h)) then
    wake(h, math.max(now, clock_of(h, egress)))
  end
end
