#!lua flags=no-writes
-- Where a job's requests wait: its queues at some hosts of its lane and, the first time, those that
-- are parked.
-- KEYS[1] string  the shard's prefix
-- ARGV[1]         not used
-- ARGV[2] string  no
-- ARGV[3] string  the job's lane
-- ARGV[4] number  the first host's rank in each of the lane's indexes; 0 is the first time
-- ARGV[5] number  how many hosts of each
-- ARGV[6] number  how many parked queues at the most
-- Returns {most hosts looked at in one index, host, priority, length, …three for each queue}
local P, no, first, count = KEYS[1], ARGV[2], tonumber(ARGV[4]), tonumber(ARGV[5])
local found = {0}

local function note(name, priority)
  local length = redis.call('LLEN', P .. 'q:' .. name .. ':' .. no .. ':' .. priority)
  if length > 0 then
    for _, value in ipairs({name, priority, length}) do found[#found + 1] = value end
  end
end

if first == 0 then
  for _, member in ipairs(redis.call('SRANDMEMBER', P .. 'p:' .. no, ARGV[6])) do
    local priority, name = string.match(member, '^(%S+) (.*)$')
    note(name, priority)
  end
end
for _, band in ipairs({'1', '2', '3'}) do
  local lane = band .. ARGV[3]
  local names = redis.call('ZRANGE', P .. 'r' .. lane, first, first + count - 1)
  found[1] = math.max(found[1], #names)
  for _, name in ipairs(names) do
    local queues = redis.call('HGET', P .. 'h:' .. name, 'q' .. lane) or ''
    for job, priority in string.gmatch(queues, '([^: ]+):([^: ]+):[^: ]+') do
      if job == no then note(name, priority) end
    end
  end
end
return found
