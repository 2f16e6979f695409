-- A node joins. KEYS: base. ARGV: what the crawl is (JSON), who the node is (JSON), life in ms, its
-- last epoch or 0. Returns its epoch; or 0 and what the crawl is where that differs, nothing where
-- the crawl that the node was on is forgotten.
local base = KEYS[1]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if tonumber(redis.call('GET', base .. 'epoch') or 0) < tonumber(ARGV[4]) then
  return {0, ''}  -- and no new epoch: the others have to see it, too
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
