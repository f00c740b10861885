#!lua
-- @include session clock job host queue letters
-- Dead letters go back to their queues, first in line, with a clean record; each counts as accepted
-- anew.
-- KEYS[1] string   the shard's prefix
-- ARGV[1..3]       clock, session, sequence
-- ARGV[4] msgpack  {id, …}
-- ARGV[5…]         the entry to queue instead, or '' for the letter's own; one for each id
-- Returns {n, …}: 1 done, 0 no such letter, −1 its job has ended; or {−2}, and nothing is done: a job
--         is closing (ask again)
local ids, answer, letters = cmsgpack.unpack(ARGV[4]), {}, {}
for i, id in ipairs(ids) do
  local kept = redis.call('HGET', P .. 'x', id)
  letters[i] = kept and cmsgpack.unpack(kept)
  if kept and job(letters[i][2]).state == 'c' then return finish({-2}) end
end
for i, id in ipairs(ids) do
  answer[i] = 0
  if letters[i] and redis.call('HEXISTS', P .. 'x', id) == 1 then
    local name, no, priority, entry = unpack(letters[i])
    if job(no).state == 'e' then
      answer[i] = -1
    else
      answer[i] = 1
      drop_letter(id, no)
      entry = ARGV[4 + i] ~= '' and ARGV[4 + i] or string.char(0, 0) .. string.sub(entry, 3)
      push(name, no, priority, {entry}, 1, true)
      tally(no, 'a', 1)
    end
  end
end
flush_hosts()
flush_tallies()
return finish(answer)
