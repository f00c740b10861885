-- A repeat of the last call of a session gets the kept reply, and changes nothing.
-- ARGV[2] string  the session: worker and channel
-- ARGV[3] number  the call's sequence number in it
local SESSION, SEQ = KEYS[1] .. 's:' .. ARGV[2], tonumber(ARGV[3])
do
  local kept = redis.call('GET', SESSION)
  if kept then
    local past = cmsgpack.unpack(kept)
    if past[1] == SEQ then return past[2] end
    if past[1] > SEQ then
      return redis.error_reply('STALESEQ call ' .. ARGV[3] .. ' came after call ' .. past[1])
    end
  end
end

local function finish(reply)
  redis.call('SET', SESSION, cmsgpack.pack({SEQ, reply}), 'EX', 3600)
  return reply
end
