#!lua flags=allow-oom
-- @include session clock job host queue leases
-- Gives turns back once their fetch is over, long before the lease is settled; ends permits.
-- KEYS[1] string   the shard's prefix
-- ARGV[1..3]       clock, session, sequence
-- ARGV[4] msgpack  {worker, {token, …}, {{age, latency, status, retry after}, …}} (ms; latency −1: none)
-- Returns {0|1, …}: 0 where the lease is gone
local worker, tokens, fetches = unpack(cmsgpack.unpack(ARGV[4]))
local answer, changed = {}, {}
for i, r in ipairs(read_leases(worker, tokens)) do
  answer[i] = r and 1 or 0
  if r and r.held then
    give_back(host(r.host), r.egress, fetches[i])
    r.held = false
    if r.no == '' then
      drop_lease(worker, tokens[i], r)
    else
      changed[#changed + 1] = tokens[i]
      changed[#changed + 1] = pack_lease(r)
    end
  end
end
for i = 1, #changed, 1000 do
  redis.call('HSET', P .. 'l:' .. worker, unpack(changed, i, math.min(i + 999, #changed)))
end
flush()
return finish(answer)
