#!lua
-- @include clock job host queue promote first
-- Says which lanes have work: a worker opens a crawler for these, and closes those of others.
-- What waits for another try is brought in first: without an open lane nobody would lease it.
-- KEYS[1] string   the shard's prefix
-- ARGV[1] number   clock
-- ARGV[2] msgpack  {{lane, …}, {host, …} or nothing for all}
-- Returns {ms until the lane's first host may be ready, or −1 if nothing is queued; one for each}
promote()
flush_hosts()
flush_tallies()
local lanes, only = unpack(cmsgpack.unpack(ARGV[2]))
local waits = {}
for i, lane in ipairs(lanes) do
  local soonest
  for _, band in ipairs({'1', '2', '3'}) do
    local at = first_ready(band .. lane, only)
    if at and (not soonest or at < soonest) then soonest = at end
  end
  waits[i] = soonest and math.max(0, soonest - now) or -1
end
return waits
