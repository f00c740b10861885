#!lua flags=allow-oom
-- @include session clock job host queue leases
-- Ends leases: done, tried again later, or buried. Children were added before. A token that is gone
-- is refused, so that a worker that lost its lease changes nothing.
-- KEYS[1] string   the shard's prefix
-- ARGV[1..3]       clock, session, sequence
-- ARGV[4] msgpack  {worker, {token, …}, {{outcome 'd'|'r'|'b', fetch or false, wait ms, reason, detail,
--                   page 0|1, {figure = number}}, …}}; fetch {age, latency, status, retry after}
-- Returns {0|1, …}: 0 where the lease is gone
local worker, tokens, settlements = unpack(cmsgpack.unpack(ARGV[4]))
local answer = {}

local function note_error(r, reason, detail)
  local key, name = P .. 'f:' .. r.no, reason .. ' ' .. detail
  if redis.call('HEXISTS', key, name) == 1 or redis.call('HLEN', key) < 100 then
    redis.call('HINCRBY', key, name, 1)
  else
    redis.call('HINCRBY', key, 'other', 1)
  end
end

local function delay_request(token, r, wait)
  local attempts, crashes = counts(r.entry)
  local entry = with_counts(r.entry, attempts + 1, crashes)
  redis.call('ZADD', P .. 'z', now + wait, cmsgpack.pack({token, r.host, r.no, r.priority, entry}))
  tally(r.no, 'de', 1)
  tally(r.no, 'rt', 1)
end

local function settle(token, r, s)
  local outcome, fetch, wait, reason, detail, page, figures = unpack(s)
  if r.held then
    give_back(host(r.host), r.egress, fetch or nil)
  end
  drop_lease(worker, token, r)
  if page == 1 then
    tally(r.no, 'pages', 1)
    if r.quota then tally(r.no, 'qu', 1) end
  end
  for name, by in pairs(figures) do tally(r.no, name, by) end
  if outcome ~= 'd' then note_error(r, reason, detail) end
  if job(r.no).state == 'e' and outcome ~= 'd' then
    tally(r.no, 'di', 1)
  elseif outcome == 'd' then
    tally(r.no, 'dn', 1)
  elseif outcome == 'r' then
    delay_request(token, r, wait)
  else
    local attempts, crashes = counts(r.entry)
    r.entry = with_counts(r.entry, attempts + 1, crashes)
    bury(token, r, reason, detail)
  end
end

for i, r in ipairs(read_leases(worker, tokens)) do
  answer[i] = r and r.no ~= '' and 1 or 0
  if answer[i] == 1 then settle(tokens[i], r, settlements[i]) end
end
flush()
return finish(answer)
