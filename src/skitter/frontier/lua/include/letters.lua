-- Dead letters: taken out of the hash and of both indexes.
local function drop_letter(id, no)
  redis.call('HDEL', P .. 'x', id)
  redis.call('ZREM', P .. 'xt', id)
  redis.call('ZREM', P .. 'xj:' .. no, id)
end
