#!lua
-- @include session clock job host queue promote first leases
-- Hands out requests of hosts whose turn has come, oldest first, by lane and weighted band.
-- KEYS[1] string   the shard's prefix
-- ARGV[1..3]       clock, session, sequence
-- ARGV[4] msgpack  {worker, nonce, count, {lane, …}, {egress, …}, {host, …} or nothing for all}
-- Returns {ms until it is worth asking again, {no that wants page quota, …},
--          {token, host, no, priority, egress, entry, delay ms, alone 0|1, …eight for each}}
local worker, nonce, wanted, lanes, egresses, only = unpack(cmsgpack.unpack(ARGV[4]))
local SCAN, PAGE = 512, 32
local BANDS = {'1', '2', '1', '1', '2', '1', '1', '3', '1', '2', '1', '1', '2'}
local reply, granted, starved, records, deadlines = {}, 0, {}, {}, {}
local alone, blocked = false, false
local DEADLINE = string.format('%d', now + CFG.lease)

-- Every egress in use lately: a host is only put off when none of them may ask it.
local function fleet()
  local seen = {}
  for _, e in ipairs(egresses) do seen[#seen + 1] = now; seen[#seen + 1] = e end
  redis.call('ZADD', P .. 'e', unpack(seen))
  redis.call('ZREMRANGEBYSCORE', P .. 'e', '-inf', now - 2 * CFG.lease)
  return redis.call('ZRANGE', P .. 'e', 0, -1)
end
local FLEET = fleet()

-- What keeps a queue from being leased now; a queue that cannot go on leaves the host's index.
local function unfit(h, ref, lane)
  local j = job(ref.no)
  if j.state == 'e' then
    discard_queue(h, ref.no, ref.priority)
    return true
  end
  local dry = j.limited and j.pool <= 0
  if dry and not starved[ref.no] then starved[ref.no] = true end
  if j.state == 'p' or dry then
    park(h, ref.no, ref.priority)
    return true
  end
  local place = place_of(j, ref.priority)
  if place.lane ~= lane then
    add_ref(h, ref.no, ref.priority)
    return true
  end
  ref.effective = place.effective
  return false
end

local function fit_refs(h, lane)
  local fit = {}
  for _, ref in ipairs(read_refs(h.f['q' .. lane])) do
    if not unfit(h, ref, lane) then fit[#fit + 1] = ref end
  end
  write_refs(h, lane, fit)
  return fit
end

-- Looks at the first queue; the others only when that one cannot go on.
local function first_fit(h, lane)
  local text = h.f['q' .. lane]
  local refs = read_refs(text)
  if #refs == 0 or unfit(h, refs[1], lane) then return fit_refs(h, lane) end
  return refs
end

local function pick_egress(h, single)
  local best, best_clock
  for _, e in ipairs(egresses) do
    local out, clock = out_of(h, e), clock_of(h, e)
    local room = single and out == 0 or not single and out < concurrency_of(h)
    if room and clock <= now and (not best or clock < best_clock) then best, best_clock = e, clock end
  end
  return best
end

-- Puts a host off until one of the fleet's egresses may ask it. Answers false if one may now.
local function put_off(h, lane, single)
  local soonest
  for _, e in ipairs(FLEET) do
    local out = out_of(h, e)
    if out == 0 or (not single and out < concurrency_of(h)) then
      local clock = clock_of(h, e)
      if not soonest or clock < soonest then soonest = clock end
    end
  end
  if not soonest then rest(h, lane); return true end
  if soonest <= now then return false end
  -- No further than the fleet is remembered: an egress that comes back meanwhile may ask at once.
  soonest = math.min(soonest, now + 2 * CFG.lease)
  redis.call('ZADD', P .. 'r' .. lane, string.format('%d', soonest), h.name)
  return true
end

local function room_of(h, egress, robots)
  local delay, room = delay_of(h), nil
  if robots and robots_unknown(h) then
    room = 1
  elseif delay > 0 then
    room = math.max(1, math.floor(CFG.turn / delay))
  else
    room = concurrency_of(h) - out_of(h, egress)
  end
  local budget = field(h, 'bm')
  if budget then
    if (field(h, 'bw') or 0) <= now then
      put(h, 'bw', now + (field(h, 'bp') or 86400000))
      put(h, 'bu', 0)
    end
    room = math.min(room, budget - (field(h, 'bu') or 0))
  end
  return room
end

local function grant(h, ref, egress, entry)
  local j = job(ref.no)
  granted = granted + 1
  local token = nonce .. string.format('%03x', granted)
  local attempts, crashes = counts(entry)
  local r = {host = h.name, no = ref.no, priority = ref.priority, egress = egress, held = true,
             quota = j.limited, entry = entry}
  records[#records + 1] = token
  records[#records + 1] = pack_lease(r)
  deadlines[#deadlines + 1] = DEADLINE
  deadlines[#deadlines + 1] = worker .. '/' .. token
  if j.limited then j.pool = j.pool - 1; tally(ref.no, 'ql', 1) end
  tally(ref.no, 'le', 1)
  local n = #reply
  reply[n + 1], reply[n + 2], reply[n + 3], reply[n + 4] = token, h.name, ref.no, ref.priority
  reply[n + 5], reply[n + 6], reply[n + 7] = egress, entry, delay_of(h)
  reply[n + 8] = crashes >= CFG.alone and 1 or 0
end

-- Pops up to `room` entries of one queue. A request that saw workers die is handed out alone.
local function draw(h, ref, egress, room)
  local j, key = job(ref.no), queue_key(h.name, ref.no, ref.priority)
  if j.limited then room = math.min(room, j.pool) end
  if room <= 0 then return 0, false end
  local entries = redis.call('LPOP', key, room)
  if not entries then return 0, true end
  local taken = 0
  for i, entry in ipairs(entries) do
    local _, crashes = counts(entry)
    local suspect = crashes >= CFG.alone
    if alone or (suspect and granted > 0) then
      blocked = suspect
      for back = #entries, i, -1 do redis.call('LPUSH', key, entries[back]) end
      shrink(h, ref.no, taken, redis.call('LLEN', key))
      return taken, false
    end
    alone = suspect
    grant(h, ref, egress, entry)
    taken = taken + 1
  end
  local left = #entries < room and 0 or redis.call('LLEN', key)
  shrink(h, ref.no, taken, left)
  return taken, left == 0
end

local function draw_all(h, lane, refs, egress, room)
  local taken, kept, last = 0, {}, nil
  for i, ref in ipairs(refs) do
    local n, empty = 0, false
    if robots_unknown(h) and job(ref.no).robots then
      -- Alone at its host or not at all, whatever stood before it: that queue may have been empty.
      local free = taken == 0 and out_of(h, egress) == 0 and (field(h, 'pw') or 0) <= now
      room = math.min(room, free and 1 or taken)
    end
    if taken < room and not alone and (i == 1 or not unfit(h, ref, lane)) then
      n, empty = draw(h, ref, egress, room - taken)
      taken = taken + n
      last = n > 0 and ref or last
    elseif taken < room and not alone then
      empty = true
    end
    if not empty then kept[#kept + 1] = ref end
  end
  return taken, kept, last
end

-- The queue that was served last goes behind its equals, so that no job starves another at a host.
local function rotate(refs, last)
  if #refs < 2 or not last then return refs end
  for i, ref in ipairs(refs) do
    if ref == last then
      table.remove(refs, i)
      refs[#refs + 1] = ref
      return in_order(refs)
    end
  end
  return refs
end

-- Answers whether the host's place in the index was changed.
local function serve(h, lane, refs, egress, robots)
  local budgeted = h.f.bm
  blocked = false
  local room = math.min(room_of(h, egress, robots), wanted - granted)
  if room <= 0 then
    redis.call('ZADD', P .. 'r' .. lane, budgeted and (field(h, 'bw') or now + 1000) or now + 1, h.name)
    return true
  end
  local taken, kept, last = draw_all(h, lane, refs, egress, room)
  if taken > 0 then
    put(h, 'o' .. suffix(egress), out_of(h, egress) + taken)
    if budgeted then put(h, 'bu', (field(h, 'bu') or 0) + taken) end
  end
  kept = rotate(kept, last)
  if #kept ~= #refs or #kept > 1 then write_refs(h, lane, kept) end
  if #kept == 0 then return true end
  if blocked and taken == 0 then
    -- First in line for the next call, which will have nothing beside it.
    redis.call('ZADD', P .. 'r' .. lane, 0, h.name)
    return false
  end
  if not put_off(h, lane, exclusive(h, robots)) then redis.call('ZADD', P .. 'r' .. lane, now + 1, h.name) end
  return true
end

-- Answers whether the host's place in the index was changed.
local function take(name, lane)
  local h = host(name)
  local refs = first_fit(h, lane)
  if #refs == 0 then
    write_refs(h, lane, refs)
    return true
  end
  if h.f.bl then
    rest(h, lane)
    return true
  end
  local robots = job(refs[1].no).robots
  local single = exclusive(h, robots)
  if (field(h, 'pw') or 0) > now and single then
    redis.call('ZADD', P .. 'r' .. lane, field(h, 'pw'), name)
    return true
  end
  local egress = pick_egress(h, single)
  if not egress then return put_off(h, lane, single) end
  return serve(h, lane, refs, egress, robots)
end

local function search(lane)
  local stayed, scanned = 0, 0
  while granted < wanted and not alone and scanned < SCAN do
    local names = redis.call('ZRANGEBYSCORE', P .. 'r' .. lane, '-inf', now, 'LIMIT', stayed, PAGE)
    for _, name in ipairs(names) do
      if granted >= wanted or alone then return end
      if not take(name, lane) then stayed = stayed + 1 end
    end
    scanned = scanned + #names
    if #names < PAGE then return end
  end
end

-- The same for a worker that keeps to some hosts: they are looked up, however many others are ready.
local function search_only(lane)
  for _, name in ipairs(only) do
    if granted >= wanted or alone then return end
    local at = redis.call('ZSCORE', P .. 'r' .. lane, name)
    if at and tonumber(at) <= now then take(name, lane) end
  end
end

local function each_lane(visit)
  local call = redis.call('HINCRBY', META, 'calls', 1)
  local first = BANDS[call % #BANDS + 1]
  for _, band in ipairs({first, '1', '2', '3'}) do
    if band ~= first or not visit[band] then
      visit[band] = true
      for i = 0, #lanes - 1 do visit.run(band .. lanes[(call + i) % #lanes + 1]) end
    end
  end
end

local function ask_again()
  local soonest = now + 750
  for _, lane in ipairs(lanes) do
    for _, band in ipairs({'1', '2', '3'}) do
      soonest = math.min(soonest, first_ready(band .. lane, only) or soonest)
    end
  end
  local due = redis.call('ZRANGE', P .. 'z', 0, 0, 'WITHSCORES')
  if due[2] then soonest = math.min(soonest, tonumber(due[2])) end
  return math.max(1, soonest - now)
end

if now < HOLD then return finish({math.min(1000, HOLD - now), {}, {}}) end
promote()
each_lane({run = only and search_only or search})
if granted > 0 then
  for i = 1, #records, 1000 do
    redis.call('HSET', P .. 'l:' .. worker, unpack(records, i, math.min(i + 999, #records)))
    redis.call('ZADD', P .. 'due', unpack(deadlines, i, math.min(i + 999, #deadlines)))
  end
end
flush()
local wants = {}
for no in pairs(starved) do wants[#wants + 1] = no end
return finish({granted > 0 and 0 or ask_again(), wants, reply})
