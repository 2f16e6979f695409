-- Enters stories into the duplicate index of all nodes, unless another node was first since this
-- one looked. KEYS: base. ARGV: the next number as this node has it, texts kept at most, and a
-- msgpack map: items (url, keys, text each), marks (of boilerplate). Returns 1, or 0: look again.
local base, kept = KEYS[1], tonumber(ARGV[2])
local number = tonumber(redis.call('GET', base .. 'next') or '1')
if number ~= tonumber(ARGV[1]) then
  return 0
end
local function drop(old)
  local url = redis.call('HGET', base .. 'names', old)
  if url then
    redis.call('HDEL', base .. 'names', old)
    redis.call('HDEL', base .. 'texts', old)
    redis.call('HDEL', base .. 'keys', old)
    if redis.call('HGET', base .. 'urls', url) == tostring(old) then
      redis.call('HDEL', base .. 'urls', url)
    end
  end
end
local batch = cmsgpack.unpack(ARGV[3])
for _, item in ipairs(batch.items) do
  local before = redis.call('HGET', base .. 'urls', item[1])
  if before then
    drop(before)
  end
  redis.call('HSET', base .. 'urls', item[1], number)
  redis.call('HSET', base .. 'names', number, item[1])
  redis.call('HSET', base .. 'keys', number, item[2])
  redis.call('HSET', base .. 'texts', number, item[3])
  drop(string.format('%d', number - kept))
  number = number + 1
end
for _, mark in ipairs(batch.marks) do
  redis.call('RPUSH', base .. 'marks', mark)
end
redis.call('SET', base .. 'next', string.format('%d', number))
return 1
