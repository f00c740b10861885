-- Exact dedup: 64-bit fingerprints in intsets, linear hashing. The number of buckets grows one split
-- at a time, so that no bucket leaves the compact encoding (512 entries) at any size of the scope.
local FILL = 190

local function scope_of(name)
  local r = redis.call('HMGET', P .. 'd:' .. name, 'n', 'size', 'next')
  return {name = name, key = P .. 'd:' .. name .. ':', n = tonumber(r[1]) or 0, size = tonumber(r[2]) or 1, next = tonumber(r[3]) or 0}
end

-- low: the fingerprint's remainder by twice the scope's size.
local function bucket_key(scope, low)
  local bucket = low % scope.size
  -- Printed as a whole number: joined as it is, it would be printed as a fraction, at twice the cost.
  return scope.key .. string.format('%d', bucket < scope.next and low or bucket)
end

-- A fingerprint is a signed 64-bit decimal, which Lua's numbers would round. Its remainder by a power
-- of two up to 2^15 hangs on its last 15 digits alone; by a larger one it is taken in two halves.
local function remainder(fingerprint, modulus)
  if modulus <= 32768 then
    local low = tonumber(string.sub(fingerprint, -15)) % modulus
    if string.byte(fingerprint) == 45 and #fingerprint > 15 then return (-low) % modulus end
    return low
  end
  local sign, digits = 1, fingerprint
  if string.sub(digits, 1, 1) == '-' then sign, digits = -1, string.sub(digits, 2) end
  local low = tonumber(string.sub(digits, -9))
  local high = tonumber(string.sub(digits, 1, -10)) or 0
  local value = ((high % modulus) * (1000000000 % modulus) + low) % modulus
  return (sign * value) % modulus
end

local function split(scope)
  local from, to = scope.key .. scope.next, scope.key .. (scope.next + scope.size)
  local moved = {}
  for _, member in ipairs(redis.call('SMEMBERS', from)) do
    if remainder(member, 2 * scope.size) ~= scope.next then moved[#moved + 1] = member end
  end
  for first = 1, #moved, 1000 do
    local last = math.min(first + 999, #moved)
    redis.call('SREM', from, unpack(moved, first, last))
    redis.call('SADD', to, unpack(moved, first, last))
  end
  scope.next = scope.next + 1
  if scope.next == scope.size then scope.size, scope.next = 2 * scope.size, 0 end
end

-- Splits before a batch goes in: a set that once passed the bound of the compact encoding never
-- shrinks back into it.
local function make_room(scope, coming)
  while scope.n + coming > FILL * (scope.size + scope.next) do
    split(scope)
    scope.changed = true
  end
end

local function grow(scope, added)
  if added == 0 and not scope.changed then return end
  scope.n = scope.n + added
  redis.call('HSET', P .. 'd:' .. scope.name, 'n', scope.n, 'size', scope.size, 'next', scope.next)
end
