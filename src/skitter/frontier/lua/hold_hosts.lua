#!lua
-- @include clock job host
-- Lets hosts rest for their delay from now on, and the whole shard for a lease: what was asked of
-- them since their record was made is not known.
-- KEYS[1] string   the shard's prefix
-- ARGV[1] number   clock
-- ARGV[2] msgpack  {host, …}
-- Returns 0
for _, name in ipairs(cmsgpack.unpack(ARGV[2])) do
  local h = host(name)
  local clocks = {c = true}
  for field in pairs(h.f) do
    if string.sub(field, 1, 2) == 'c:' then clocks[field] = true end
  end
  local rested = math.ceil(now + delay_of(h))
  for field in pairs(clocks) do
    if (tonumber(h.f[field]) or 0) < rested then put(h, field, rested) end
  end
end
flush_hosts()
redis.call('HSET', META, 'hold', string.format('%.0f', now + CFG.lease))
return 0
