#!lua flags=allow-oom
-- @include clock job host queue
-- One slice of a walk over the hosts of a lane and band: empties the queues of ended jobs there, and
-- moves those whose job's priority changed into their band. What is queued is found without an index
-- of each job's hosts, which would cost every queued request its memory.
-- KEYS[1] string  the shard's prefix
-- ARGV[1] number  clock
-- ARGV[2] string  band and lane
-- ARGV[3] string  where the walk stands; '0' to begin
-- ARGV[4] number  about how many hosts
-- Returns where the walk goes on; '0' at its end
local lane = ARGV[2]
local scan = redis.call('ZSCAN', P .. 'r' .. lane, ARGV[3], 'COUNT', ARGV[4])

local function misplaced(h, ref)
  local j = job(ref.no)
  if j.state == 'e' then
    discard_queue(h, ref.no, ref.priority)
    return true
  end
  if band_of(j.priority + ref.priority) .. j.lane ~= lane then
    add_ref(h, ref.no, ref.priority)
    return true
  end
  return false
end

for i = 1, #scan[2], 2 do
  local h, kept, refs = host(scan[2][i]), {}, nil
  refs = read_refs(h.f['q' .. lane])
  for _, ref in ipairs(refs) do
    if not misplaced(h, ref) then
      ref.effective = job(ref.no).priority + ref.priority
      insert_ref(kept, ref)
    end
  end
  if #kept < #refs or #kept > 1 then write_refs(h, lane, kept) end
end
flush_hosts()
flush_tallies()
return scan[1]
