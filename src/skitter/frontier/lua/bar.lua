#!lua flags=allow-oom
-- @include clock host
-- Keeps an egress away from a host: its clock there is set ahead, as far as a clock is believed.
-- KEYS[1] string   the shard's prefix
-- ARGV[1] number   clock
-- ARGV[2] string   the host
-- ARGV[3] string   the egress
-- ARGV[4] number   for how long, ms
-- Returns for how many ms it is barred
local h, egress = host(ARGV[2]), ARGV[3]
local most = math.max(CFG.max_delay, CFG.max_wait, delay_of(h))
local clock = math.max(clock_of(h, egress), now + math.min(tonumber(ARGV[4]), most))
put(h, 'c' .. suffix(egress), clock)
h.idle = not has_queues(h)
flush_hosts()
return math.ceil(clock - now)
