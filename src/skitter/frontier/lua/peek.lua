#!lua flags=no-writes
-- What a job will ask next: the heads of its queues, at the hosts that come first.
-- KEYS[1] string  the shard's prefix
-- ARGV[1]         not used
-- ARGV[2] string  no
-- ARGV[3] string  the job's lane
-- ARGV[4] number  how many at the most
-- Returns {host, priority, entry, …three for each}
local P, no, most, found = KEYS[1], ARGV[2], tonumber(ARGV[4]), {}
for _, band in ipairs({'1', '2', '3'}) do
  local lane = band .. ARGV[3]
  for _, name in ipairs(redis.call('ZRANGE', P .. 'r' .. lane, 0, 4 * most)) do
    for job, priority in string.gmatch(redis.call('HGET', P .. 'h:' .. name, 'q' .. lane) or '', '([^: ]+):([^: ]+):[^: ]+') do
      if job == no and #found < 3 * most then
        for _, entry in ipairs(redis.call('LRANGE', P .. 'q:' .. name .. ':' .. no .. ':' .. priority, 0, most - 1)) do
          for _, value in ipairs({name, priority, entry}) do found[#found + 1] = value end
        end
      end
    end
  end
end
return found
