-- Queues: a list per host, job and priority. A host's field q<band><lane> names those of one lane
-- and band, best first: 'no:priority:effective no:priority:effective …'.

local function band_of(effective)
  if effective > 0 then return '1' elseif effective == 0 then return '2' else return '3' end
end

local function queue_key(name, no, priority)
  return P .. 'q:' .. name .. ':' .. no .. ':' .. priority
end

local function read_refs(text)
  local refs = {}
  for no, priority, effective in string.gmatch(text or '', '([^: ]+):([^: ]+):([^: ]+)') do
    refs[#refs + 1] = {no = no, priority = tonumber(priority), effective = tonumber(effective)}
  end
  return refs
end

local function write_refs(h, lane, refs)
  if #refs == 0 then
    put(h, 'q' .. lane, nil)
    redis.call('ZREM', P .. 'r' .. lane, h.name)
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

-- Makes a queue known to the lease: a queue that is known already is left where it is.
local function add_ref(h, no, priority)
  local j = job(no)
  local effective = j.priority + priority
  local lane = band_of(effective) .. j.lane
  local text = h.f['q' .. lane]
  if not text then
    put(h, 'q' .. lane, no .. ':' .. priority .. ':' .. effective)
    redis.call('ZADD', P .. 'r' .. lane, now, h.name)
    return
  end
  local refs = read_refs(text)
  for i = 1, #refs do
    if refs[i].no == no and refs[i].priority == priority then return end
  end
  insert_ref(refs, {no = no, priority = priority, effective = effective})
  write_refs(h, lane, refs)
end

-- Of several jobs at one host the most polite one sets the pace.
local function take_manners(h, j)
  if not (j.delay or j.concurrency or h.f.jd or h.f.jc) then return end
  if (field(h, 'n') or 0) == 0 then
    put(h, 'jd', j.delay)
    put(h, 'jc', j.concurrency)
  else
    put(h, 'jd', math.max(j.delay or CFG.delay, field(h, 'jd') or CFG.delay))
    put(h, 'jc', math.min(j.concurrency or CFG.conc, field(h, 'jc') or CFG.conc))
  end
end

local function count_queued(h, no, by)
  local before = field(h, 'n') or 0
  local after = math.max(0, before + by)
  put(h, 'n', after > 0 and after or nil)
  if before == 0 and after > 0 and not h.fresh then h.idle = false end
  if before > 0 and after == 0 then h.idle = true end
  rank(h, 'hp', before, after)
  tally(no, 'qd', by)
end

-- entries: array of queue entries; front: they go before what is queued, in their order.
local function push(h, no, priority, entries, front)
  local key, length = queue_key(h.name, no, priority), 0
  take_manners(h, job(no))
  for first = 1, #entries, 1000 do
    local last = math.min(first + 999, #entries)
    if front then
      local back = {}
      for i = last, first, -1 do back[#back + 1] = entries[i] end
      length = redis.call('LPUSH', key, unpack(back))
    else
      length = redis.call('RPUSH', key, unpack(entries, first, last))
    end
  end
  count_queued(h, no, #entries)
  if length == #entries then add_ref(h, no, priority) end
end

-- Empties a queue of a job that has ended.
local function discard_queue(h, no, priority)
  local key = queue_key(h.name, no, priority)
  local length = redis.call('LLEN', key)
  redis.call('UNLINK', key)
  count_queued(h, no, -length)
  tally(no, 'di', length)
end

-- A request comes back to its queue, or ends with its job.
local function requeue(name, no, priority, entry)
  if job(no).state == 'e' then
    tally(no, 'di', 1)
  else
    push(host(name), no, priority, {entry}, true)
  end
end
