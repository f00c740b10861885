-- When the first host of a lane and band may be ready: of all hosts, or of some; nil if none is there.
local function first_ready(lane, only)
  local key, first = P .. 'r' .. lane, nil
  if not only then return tonumber(redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2]) end
  for _, name in ipairs(only) do
    local at = tonumber(redis.call('ZSCORE', key, name) or nil)
    if at and (not first or at < first) then first = at end
  end
  return first
end
