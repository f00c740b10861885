-- Lease records: in hash l:<worker> by token; their deadlines in zset due as 'worker/token'.
-- A permit is a lease without a request: its no is ''.
-- An entry's first two bytes count its attempts and its crashes; the rest is the request, opaque here.
local dropped = {}

local function read_lease(kept)
  local r = cmsgpack.unpack(kept)
  return {host = r[1], no = r[2], priority = r[3], egress = r[4], held = r[5] == 1, quota = r[6] == 1, entry = r[7]}
end

local function pack_lease(r)
  return cmsgpack.pack({r.host, r.no, r.priority, r.egress, r.held and 1 or 0, r.quota and 1 or 0, r.entry})
end

-- The records of some tokens in their order; false where there is none, or a token comes again.
local function read_leases(worker, tokens)
  local records, met = {}, {}
  for first = 1, #tokens, 1000 do
    local kept = redis.call('HMGET', P .. 'l:' .. worker, unpack(tokens, first, math.min(first + 999, #tokens)))
    for i = 1, #kept do
      local token = tokens[first + i - 1]
      records[first + i - 1] = kept[i] and not met[token] and read_lease(kept[i])
      met[token] = true
    end
  end
  return records
end

local function drop_lease(worker, token, r)
  local d = dropped[worker]
  if not d then d = {}; dropped[worker] = d end
  d[#d + 1] = token
  if r.no ~= '' then
    tally(r.no, 'le', -1)
    if r.quota then tally(r.no, 'ql', -1) end
  end
end

local function flush_drops()
  for worker, tokens in pairs(dropped) do
    for first = 1, #tokens, 1000 do
      local last, members = math.min(first + 999, #tokens), {}
      for i = first, last do members[#members + 1] = worker .. '/' .. tokens[i] end
      redis.call('HDEL', P .. 'l:' .. worker, unpack(tokens, first, last))
      redis.call('ZREM', P .. 'due', unpack(members))
    end
  end
end

local function flush()
  flush_drops()
  flush_hosts()
  flush_tallies()
end

-- An entry too short to hold them is nobody's request, and is buried where it is read.
local function counts(entry)
  return string.byte(entry, 1) or 0, string.byte(entry, 2) or 0
end

local function with_counts(entry, attempts, crashes)
  return string.char(math.min(attempts, 255), math.min(crashes, 255)) .. string.sub(entry, 3)
end

local function bury(token, r, reason, detail)
  tally(r.no, 'bu', 1)
  redis.call('HSET', P .. 'x', token, cmsgpack.pack({r.host, r.no, r.priority, r.entry, reason, detail, now}))
  redis.call('ZADD', P .. 'xt', now, token)
  redis.call('ZADD', P .. 'xj:' .. r.no, now, token)
end
