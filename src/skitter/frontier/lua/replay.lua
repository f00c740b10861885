#!lua
-- @include session clock job host queue
-- Dead letters go back to their queues, first in line, with a clean record; or are thrown away.
-- A replayed one counts as accepted anew.
-- KEYS[1] string   the shard's prefix
-- ARGV[1..3]       clock, session, sequence
-- ARGV[4] msgpack  {'replay'|'discard', {id, …}}
-- ARGV[5…]         the entry to queue instead, or '' for the letter's own; one for each id
-- Returns {n, …}: 1 done, 0 no such letter, −1 its job has ended; or {−2}, and nothing is done: a job
--         is closing (ask again)
local verb, ids = unpack(cmsgpack.unpack(ARGV[4]))
local answer = {}
if verb == 'replay' then
  for _, id in ipairs(ids) do
    local kept = redis.call('HGET', P .. 'x', id)
    if kept and job(cmsgpack.unpack(kept)[2]).state == 'c' then return finish({-2}) end
  end
end
for i, id in ipairs(ids) do
  local kept = redis.call('HGET', P .. 'x', id)
  answer[i] = 0
  if kept then
    local host_name, no, priority, entry = unpack(cmsgpack.unpack(kept))
    if verb == 'replay' and job(no).state == 'e' then
      answer[i] = -1
    else
      redis.call('HDEL', P .. 'x', id)
      redis.call('ZREM', P .. 'xt', id)
      redis.call('ZREM', P .. 'xj:' .. no, id)
      answer[i] = 1
      if verb == 'replay' then
        entry = ARGV[4 + i] ~= '' and ARGV[4 + i] or string.char(0, 0) .. string.sub(entry, 3)
        push(host_name, no, priority, {entry}, true)
        tally(no, 'a', 1)
      end
    end
  end
end
flush_hosts()
flush_tallies()
return finish(answer)
