-- Registers a node. KEYS: base. ARGV: identity of the crawl (JSON), identity of the node (JSON),
-- life in ms, its last epoch or 0. Returns its epoch and ''; or 0 with the identity of the crawl
-- if it differs, or with '' if Redis has lost the crawl that the node was on.
local base = KEYS[1]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if tonumber(redis.call('GET', base .. 'epoch') or 0) < tonumber(ARGV[4]) then
  return {0, ''}  -- and no new epoch: the other nodes have to detect it, too
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
return {epoch, ''}
