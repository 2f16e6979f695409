-- Returns start URLs for a node. KEYS: base. ARGV: epoch, key where operators put them, how many at
-- most. They are kept for the node until it acknowledges how many it has taken in, new ones at the
-- end; those of a dead node come first. Lists, sets and sorted sets (largest first) are supported.
-- A node that has left or timed out gets none: they would be lost.
local base, epoch, key, most = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3])
local mine = base .. 'starts:' .. epoch
if not redis.call('ZSCORE', base .. 'nodes', epoch) then
  return {}
end
local room = most - redis.call('LLEN', mine)
while room > 0 and redis.call('LMOVE', base .. 'starts', mine, 'LEFT', 'RIGHT') do
  room = room - 1
end
if room > 0 then
  local kind = redis.call('TYPE', key).ok
  local found = {}
  if kind == 'list' then
    found = redis.call('LPOP', key, room) or {}
  elseif kind == 'set' then
    found = redis.call('SPOP', key, room)
  elseif kind == 'zset' then
    local pairs = redis.call('ZPOPMAX', key, room)
    for at = 1, #pairs, 2 do
      found[#found + 1] = pairs[at]
    end
  end
  for _, text in ipairs(found) do
    redis.call('RPUSH', mine, text)
  end
end
return redis.call('LRANGE', mine, 0, -1)
