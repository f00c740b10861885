#!lua flags=allow-oom
-- @include session clock job host queue leases
-- Hands leased requests back unfetched: they go before all that is queued, and nothing is counted.
-- KEYS[1] string   the shard's prefix
-- ARGV[1..3]       clock, session, sequence
-- ARGV[4] msgpack  {worker, {token, …}}
-- Returns {0|1, …}: 0 where the lease is gone
local worker, tokens = unpack(cmsgpack.unpack(ARGV[4]))
local records, answer = read_leases(worker, tokens), {}
for i = #records, 1, -1 do
  local r = records[i]
  answer[i] = r and 1 or 0
  if r then
    if r.held then give_back(host(r.host), r.egress, nil) end
    drop_lease(worker, tokens[i], r)
    if r.no ~= '' then requeue(r.host, r.no, r.priority, r.entry) end
  end
end
flush()
return finish(answer)
