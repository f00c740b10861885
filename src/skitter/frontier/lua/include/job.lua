-- Jobs as a shard sees them: the record that its home wrote here, and the counters that are kept here.
local jobs, tallies = {}, {}

local function job(no)
  local j = jobs[no]
  if j then return j end
  local r = redis.call('HMGET', P .. 'j:' .. no, 's', 'spec', 'qr', 'qx', 'qu', 'ql')
  if not r[1] then
    j = {state = 'e', absent = true, priority = 0}
  else
    j = cmsgpack.unpack(r[2])
    j.state = r[1]
    j.pool = (tonumber(r[3]) or 0) - (tonumber(r[4]) or 0) - (tonumber(r[5]) or 0) - (tonumber(r[6]) or 0)
  end
  j.no = no
  jobs[no] = j
  return j
end

local function tally(no, field, by)
  local t = tallies[no]
  if not t then t = {}; tallies[no] = t end
  t[field] = (t[field] or 0) + by
end

-- A job with nothing left here, or with all its page quota used, may be complete: the completer looks.
local function hint(no)
  local c = redis.call('HMGET', P .. 'j:' .. no, 'a', 'dn', 'bu', 'di', 'ql', 's')
  local left = (tonumber(c[1]) or 0) - (tonumber(c[2]) or 0) - (tonumber(c[3]) or 0) - (tonumber(c[4]) or 0)
  if c[6] == 'e' then return end
  if left == 0 or (job(no).limited and (tonumber(c[5]) or 0) == 0) then redis.call('SADD', P .. 'maybe', no) end
end

-- Page quota that came back is for queues that were parked for want of it.
local function hint_unpark(no)
  local q = redis.call('HMGET', P .. 'j:' .. no, 'qr', 'qx', 'qu', 'ql')
  local pool = tonumber(q[1] or 0) - tonumber(q[2] or 0) - tonumber(q[3] or 0) - tonumber(q[4] or 0)
  if pool > 0 and redis.call('EXISTS', P .. 'p:' .. no) == 1 then redis.call('SADD', P .. 'unpark', no) end
end

local function flush_tallies()
  for no, fields in pairs(tallies) do
    if not job(no).absent then
      for field, by in pairs(fields) do
        if by ~= 0 then redis.call('HINCRBY', P .. 'j:' .. no, field, by) end
      end
      if (fields.ql or 0) < 0 then hint_unpark(no) end
      if fields.dn or fields.bu or fields.di or fields.qu then hint(no) end
    end
  end
end
