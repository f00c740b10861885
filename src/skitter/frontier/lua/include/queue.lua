-- Queues: a list per host, job and priority. A host's field q<band><lane> names those of one lane
-- and band, best first: 'no:priority:effective no:priority:effective …'; its field k those that are
-- parked: 'no:priority …'. How many are queued at a host is not counted but read from its lists: to
-- count costs each added request a third more.

local function band_of(effective)
  if effective > 0 then return '1' elseif effective == 0 then return '2' else return '3' end
end

local function queue_key(name, no, priority)
  return P .. 'q:' .. name .. ':' .. no .. ':' .. priority
end

-- Most hosts have one queue in a lane, and most of those read alike: such are read once, and shared.
local alike = {}

local function read_refs(text)
  local refs = alike[text or '']
  if refs then return refs end
  refs = {}
  for no, priority, effective in string.gmatch(text or '', '([^: ]+):([^: ]+):([^: ]+)') do
    refs[#refs + 1] = {no = no, priority = tonumber(priority), effective = tonumber(effective)}
  end
  if #refs == 1 then alike[text] = refs end
  return refs
end

local function write_refs(h, lane, refs)
  if #refs == 0 then
    put(h, 'q' .. lane, nil)
    redis.call('ZREM', P .. 'r' .. lane, h.name)
    if not has_queues(h) then h.idle = true end
    return
  end
  local parts = {}
  for i = 1, #refs do parts[i] = refs[i].no .. ':' .. refs[i].priority .. ':' .. refs[i].effective end
  put(h, 'q' .. lane, table.concat(parts, ' '))
end

local function insert_ref(refs, ref)
  local at = #refs + 1
  while at > 1 and refs[at - 1].effective < ref.effective do at = at - 1 end
  table.insert(refs, at, ref)
end

-- Refs in the order that their jobs' priorities give them now: a job that was reprioritised leaves
-- old values in the index, and nothing is compared with those.
local function in_order(refs)
  local ordered = {}
  for _, ref in ipairs(refs) do
    ref.effective = job(ref.no).priority + ref.priority
    insert_ref(ordered, ref)
  end
  return ordered
end

-- Where a queue of a job belongs, and how its host names it; the same for all of a priority.
local function place_of(j, priority)
  if not j.places then j.places = {} end
  local place = j.places[priority]
  if not place then
    local effective = j.priority + priority
    local lane = band_of(effective) .. j.lane
    place = {lane = lane, field = 'q' .. lane, effective = effective, tail = ':' .. j.no .. ':' .. priority,
             text = j.no .. ':' .. priority .. ':' .. effective}
    j.places[priority] = place
  end
  return place
end

-- Hosts that become ready, by lane: gathered where a script makes many, and written in one go.
local readied

local function make_ready(lane, name)
  if not readied then
    redis.call('ZADD', P .. 'r' .. lane, NOW, name)
    return
  end
  local members = readied[lane]
  if not members then members = {}; readied[lane] = members end
  members[#members + 1] = NOW
  members[#members + 1] = name
end

local function flush_ready()
  for lane, members in pairs(readied) do
    for i = 1, #members, 1000 do
      redis.call('ZADD', P .. 'r' .. lane, unpack(members, i, math.min(i + 999, #members)))
    end
  end
end

-- Makes a queue known to the lease: a queue that is known already is left where it is.
local function add_ref(h, no, priority)
  local place = place_of(job(no), priority)
  local effective, lane = place.effective, place.lane
  local text = h.f[place.field]
  if not text then
    if not h.fresh and not has_queues(h) then h.idle = false end
    put(h, place.field, place.text)
    make_ready(lane, h.name)
    return
  end
  local refs = read_refs(text)
  for i = 1, #refs do
    if refs[i].no == no and refs[i].priority == priority then return end
  end
  local more = {unpack(refs)}
  more[#more + 1] = {no = no, priority = priority}
  write_refs(h, lane, in_order(more))
end

-- Of several jobs at one host the most polite one sets the pace.
local function take_manners(h, j)
  if not (j.delay or j.concurrency or h.f.jd or h.f.jc) then return end
  if not has_queues(h) then
    put(h, 'jd', j.delay)
    put(h, 'jc', j.concurrency)
  else
    put(h, 'jd', math.max(j.delay or CFG.delay, field(h, 'jd') or CFG.delay))
    put(h, 'jc', math.min(j.concurrency or CFG.conc, field(h, 'jc') or CFG.conc))
  end
end

-- A queue whose job may not go on leaves the index, and is found again by its job.
local function park(h, no, priority)
  redis.call('SADD', P .. 'p:' .. no, priority .. ' ' .. h.name)
  put(h, 'k', (h.f.k and h.f.k .. ' ' or '') .. no .. ':' .. priority)
end

local function unpark(h, no, priority)
  local kept = {}
  for ref in string.gmatch(h.f.k or '', '%S+') do
    if ref ~= no .. ':' .. priority then kept[#kept + 1] = ref end
  end
  put(h, 'k', #kept > 0 and table.concat(kept, ' ') or nil)
  if not has_queues(h) then h.idle = true end
end

local function queued_at(h)
  local sum, met = 0, {}
  for name, text in pairs(h.f) do
    if name == 'k' or string.byte(name) == 113 then
      for queue in string.gmatch(text, '[^: ]+:[^: ]+') do
        if not met[queue] then sum = sum + redis.call('LLEN', P .. 'q:' .. h.name .. ':' .. queue) end
        met[queue] = true
      end
    end
  end
  return sum
end

local function has_one_queue(h)
  local fields = 0
  for name, text in pairs(h.f) do
    if name == 'k' or string.byte(name) == 113 then
      fields = fields + 1
      if fields > 1 or string.find(text, ' ', 1, true) then return false end
    end
  end
  return true
end

-- A queue lost `by` requests and has `left`. A host that has several queues is ranked anew by all of
-- them whenever one has halved.
local function shrink(h, no, by, left)
  tally(no, 'qd', -by)
  if left > 0 and same_power(left, left + by) then return end
  local one = has_one_queue(h)
  if one and left + by < 2 then return end
  local total = one and left or queued_at(h)
  if total < 2 then
    redis.call('ZREM', P .. 'hp', h.name)
  else
    redis.call('ZADD', P .. 'hp', string.format('%d', total), h.name)
  end
end

-- The first queue of a host that was never met; false if the host is there.
local function found_host(name, no, priority)
  local key, j = P .. 'h:' .. name, job(no)
  if j.delay or j.concurrency or redis.call('EXISTS', key) == 1 then return false end
  local place = place_of(j, priority)
  redis.call('HSET', key, place.field, place.text)
  make_ready(place.lane, name)
  return true
end

-- The first `count` of entries join a queue; front: they go before what is queued, in their order.
-- A queue that was there already is known to its host, which then need not be read.
local function push(name, no, priority, entries, count, front)
  local key, length = P .. 'q:' .. name .. place_of(job(no), priority).tail, 0
  for first = 1, count, 1000 do
    local last = math.min(first + 999, count)
    if front then
      local back = {}
      for i = last, first, -1 do back[#back + 1] = entries[i] end
      length = redis.call('LPUSH', key, unpack(back))
    else
      length = redis.call('RPUSH', key, unpack(entries, first, last))
    end
  end
  tally(no, 'qd', count)
  rank(name, 'hp', length - count, length)
  if length > count or not hosts[name] and found_host(name, no, priority) then return end
  local h = host(name)
  take_manners(h, job(no))
  add_ref(h, no, priority)
end

-- Empties a queue of a job that has ended.
local function discard_queue(h, no, priority)
  local key = queue_key(h.name, no, priority)
  local length = redis.call('LLEN', key)
  redis.call('UNLINK', key)
  shrink(h, no, length, 0)
  tally(no, 'di', length)
end

-- A request comes back to its queue, or ends with its job.
local function requeue(name, no, priority, entry)
  if job(no).state == 'e' then
    tally(no, 'di', 1)
  else
    push(name, no, priority, {entry}, 1, true)
  end
end
