#!lua flags=allow-oom
-- @include clock host
-- Keeps the queue of a host whose robots.txt cannot be had from being leased for a while. Permits
-- are still granted, and jobs that do not ask for robots.txt go on if the host has no delay.
-- KEYS[1] string   the shard's prefix
-- ARGV[1] number   clock
-- ARGV[2] string   the host
-- ARGV[3] number   for how many ms
-- Returns the time until which it waits (ms)
local h = host(ARGV[2])
local till = math.max(field(h, 'pw') or 0, now + tonumber(ARGV[3]))
put(h, 'rk', nil)
put(h, 'pw', till)
h.idle = not has_queues(h)
flush_hosts()
return till
