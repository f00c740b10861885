-- A repeat of the last call of a session gets the kept reply, and changes nothing.
-- ARGV[2] string  the session: worker and channel
-- ARGV[3] number  the call's sequence number in it
local SESSION, SEQ = KEYS[1] .. 's:' .. ARGV[2], tonumber(ARGV[3])
do
  -- 'sequence packed-reply': the reply is only read when it is wanted, for it may be long.
  local kept = redis.call('GET', SESSION)
  local last = kept and tonumber(string.match(kept, '^%d+'))
  if last == SEQ then return cmsgpack.unpack(string.sub(kept, #ARGV[3] + 2)) end
  if last and last > SEQ then
    return redis.error_reply('STALESEQ call ' .. ARGV[3] .. ' came after call ' .. last)
  end
end

local function finish(reply)
  redis.call('SET', SESSION, ARGV[3] .. ' ' .. cmsgpack.pack(reply), 'EX', '3600')
  return reply
end
