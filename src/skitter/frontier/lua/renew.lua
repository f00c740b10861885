#!lua flags=allow-oom
-- @include clock job host queue leases
-- Moves the deadlines of a worker's leases, and says what became of each.
-- KEYS[1] string   the shard's prefix
-- ARGV[1] number   clock
-- ARGV[2] msgpack  {worker, {token, …}}
-- Returns {n, …}: the host's delay in ms, or −1 gone, −2 give it back (its job is paused or ended)
local worker, tokens = unpack(cmsgpack.unpack(ARGV[2]))
local answer = {}
for i, r in ipairs(read_leases(worker, tokens)) do
  if not r then
    answer[i] = -1
  else
    redis.call('ZADD', P .. 'due', now + CFG.lease, worker .. '/' .. tokens[i])
    local state = r.no ~= '' and job(r.no).state or 'r'
    answer[i] = (state == 'p' or state == 'e') and -2 or delay_of(host(r.host))
  end
end
return answer
