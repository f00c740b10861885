#!lua flags=no-writes
-- Where a job's requests wait: its queues at some hosts of its lane, or its parked ones.
-- KEYS[1] string  the shard's prefix
-- ARGV[1]         not used
-- ARGV[2] string  no
-- ARGV[3] string  band and lane; empty: the parked queues, as many as are asked for
-- ARGV[4] number  the first host's rank in the lane's index
-- ARGV[5] number  how many hosts, or parked queues
-- Returns {hosts looked at, host, priority, length, …three for each queue}
local P, no, lane, first, count = KEYS[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local found = {0}

local function note(name, priority)
  local length = redis.call('LLEN', P .. 'q:' .. name .. ':' .. no .. ':' .. priority)
  if length > 0 then
    for _, value in ipairs({name, priority, length}) do found[#found + 1] = value end
  end
end

if lane == '' then
  for _, member in ipairs(redis.call('SRANDMEMBER', P .. 'p:' .. no, count)) do
    local priority, name = string.match(member, '^(%S+) (.*)$')
    note(name, priority)
  end
  return found
end
local names = redis.call('ZRANGE', P .. 'r' .. lane, first, first + count - 1)
found[1] = #names
for _, name in ipairs(names) do
  local queues = redis.call('HGET', P .. 'h:' .. name, 'q' .. lane) or ''
  for job, priority in string.gmatch(queues, '([^: ]+):([^: ]+):[^: ]+') do
    if job == no then note(name, priority) end
  end
end
return found
