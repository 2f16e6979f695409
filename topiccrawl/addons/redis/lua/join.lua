-- Registers a node. KEYS: base. ARGV: identity of the crawl (JSON), identity of the node (JSON),
-- life in ms, its last epoch or 0, what Redis called this crawl then or ''. Returns its epoch, ''
-- and the name; or 0 with the identity of the crawl if it differs, or with '' if Redis has lost the
-- crawl that the node was on: counters of a crawl that began later may have passed the epoch.
local base = KEYS[1]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if tonumber(redis.call('GET', base .. 'epoch') or 0) < tonumber(ARGV[4]) then
  return {0, ''}  -- and no new epoch: the other nodes have to detect it, too
end
redis.call('SETNX', base .. 'born', time[1] .. '.' .. time[2])
local born = redis.call('GET', base .. 'born')
if ARGV[5] ~= '' and ARGV[5] ~= born then
  return {0, ''}
end
local about = redis.call('GET', base .. 'about')
if not about then
  redis.call('SET', base .. 'about', ARGV[1])
elseif about ~= ARGV[1] then
  return {0, about}
end
local epoch = redis.call('INCR', base .. 'epoch')
redis.call('ZADD', base .. 'nodes', now + ARGV[3], epoch)
redis.call('HSET', base .. 'names', epoch, ARGV[2])
return {epoch, '', born}
