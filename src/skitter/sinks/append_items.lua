-- Append items to a stream or a list, those that it has as they are left out.
-- KEYS[1]  the stream or list
-- KEYS[2…] for each job in ARGV, a hash: id -> digest of the item as it was appended last
-- ARGV[1]  "stream" or "list"
-- ARGV[2]  about how many entries to keep; 0 is all
-- ARGV[3]  for how many seconds the ids of a job are remembered after its last item
-- ARGV[4…] for each item: number of its key in KEYS, id, digest, record
-- Returns how many were appended.
local added = 0
local most = tonumber(ARGV[2])
for at = 4, #ARGV, 4 do
  local ids, id, digest, record = KEYS[tonumber(ARGV[at])], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  if redis.call('HGET', ids, id) ~= digest then
    if ARGV[1] == 'list' then
      redis.call('RPUSH', KEYS[1], record)
    elseif most > 0 then
      redis.call('XADD', KEYS[1], 'MAXLEN', '~', most, '*', 'id', id, 'item', record)
    else
      redis.call('XADD', KEYS[1], '*', 'id', id, 'item', record)
    end
    redis.call('HSET', ids, id, digest)
    added = added + 1
  end
end
if ARGV[1] == 'list' and most > 0 then
  redis.call('LTRIM', KEYS[1], -most, -1)
end
for number = 2, #KEYS do
  redis.call('EXPIRE', KEYS[number], ARGV[3])
end
return added
