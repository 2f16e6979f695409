-- Applies the changes of a node and returns what others have for it; all or nothing.
-- KEYS: base. ARGV: epoch, number of the batch, life in ms, whether to return a view of the whole
-- crawl, whether to time out late nodes (unless this one is late), the batch (msgpack map), what
-- Redis called the crawl when the node joined. Returns msgpack.
local base, epoch, number = KEYS[1], ARGV[1], ARGV[2]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local claims = base .. 'claims'
local batch = cmsgpack.unpack(ARGV[6])
local TABLES = {'rows', 'out', 'hosts', 'stats', 'robots', 'leased', 'seen', 'crashed'}
local CHUNK, MOST = 4000, 200

local same = redis.call('GET', base .. 'born') == ARGV[7]  -- epochs begin again in a lost crawl
local ends = redis.call('ZSCORE', base .. 'nodes', epoch)
if not same or not ends then
  return cmsgpack.pack({'fenced'})
end
local done = tonumber(redis.call('HGET', base .. 'done', epoch) or 0)
if done < number - 1 then  -- the data is older than the last reply to this node
  return cmsgpack.pack({'fenced'})
end
-- a batch of an abandoned connection may come after the next one: it was sent again, and is done
local new = done < tonumber(number)
local written, seen = {}, {}
for _, name in ipairs(new and TABLES or {}) do  -- a batch done before may have left its buckets
  for _, part in ipairs({batch[name] or {}, batch['gone_' .. name] or {}}) do
    for bucket in pairs(part) do
      if not seen[bucket] then
        seen[bucket] = true
        written[#written + 1] = bucket
      end
    end
  end
end
for _, owner in ipairs(#written > 0 and redis.call('HMGET', claims, unpack(written)) or {}) do
  if owner ~= epoch then
    return cmsgpack.pack({'fenced'})
  end
end
redis.call('ZADD', base .. 'nodes', now + ARGV[3], epoch)

local function all(command, key, list)
  for at = 1, #list, CHUNK do
    redis.call(command, key, unpack(list, at, math.min(at + CHUNK - 1, #list)))
  end
end

-- a page in processing when its node timed out may have killed it: it is counted at once, so that
-- the count does not depend on how long the next node lives
local function bury(node)
  for _, key in ipairs(redis.call('SMEMBERS', base .. 'marks:' .. node)) do
    redis.call('HINCRBY', base .. 'crashed:' .. string.byte(key, 1), key, 1)
  end
  redis.call('UNLINK', base .. 'marks:' .. node)
  redis.call('ZREM', base .. 'nodes', node)
  for _, name in ipairs({'names', 'sizes', 'done'}) do
    redis.call('HDEL', base .. name, node)
  end
  local owned = redis.call('HGETALL', claims)
  for at = 1, #owned, 2 do
    if owned[at + 1] == node then
      redis.call('HDEL', claims, owned[at])
      redis.call('HSET', base .. 'left', owned[at], '-1')
    end
  end
  while redis.call('LMOVE', base .. 'starts:' .. node, base .. 'starts', 'RIGHT', 'LEFT') do end
end

local function apply()
  for _, name in ipairs(TABLES) do
    for bucket, list in pairs(batch[name] or {}) do
      all('HSET', base .. name .. ':' .. bucket, list)
    end
    for bucket, list in pairs(batch['gone_' .. name] or {}) do
      all('HDEL', base .. name .. ':' .. bucket, list)
    end
  end
  for bucket, count in pairs(batch.read or {}) do
    redis.call('LTRIM', base .. 'mail:' .. bucket, count, -1)
    if redis.call('LLEN', base .. 'mail:' .. bucket) == 0 then
      redis.call('SREM', base .. 'post', bucket)
    end
  end
  for bucket, list in pairs(batch.mail or {}) do
    all('RPUSH', base .. 'mail:' .. bucket, list)
    redis.call('SADD', base .. 'post', bucket)
  end
  for name, number in pairs(batch.tally or {}) do
    redis.call('HINCRBY', base .. 'tally', name, number)
  end
  if batch.crawl then
    redis.call('HINCRBY', base .. 'progress', 'pages', batch.crawl[1])
    redis.call('HINCRBYFLOAT', base .. 'progress', 'worth', batch.crawl[2])
  end
  if batch.turn then
    redis.call('HSET', base .. 'progress', 'turn', batch.turn)
  end
  if batch.sizes then
    redis.call('HSET', base .. 'sizes', epoch, batch.sizes)
  end
  for bucket, number in pairs(batch.weights or {}) do
    redis.call('HSET', base .. 'weights', bucket, number)
  end
  for bucket, size in pairs(batch.left or {}) do
    if redis.call('HGET', claims, bucket) == epoch then
      redis.call('HDEL', claims, bucket)
      redis.call('HSET', base .. 'left', bucket, size)
    end
  end
  if batch.started then
    -- only the first ones: a call of an abandoned connection may have added others since
    redis.call('LTRIM', base .. 'starts:' .. epoch, batch.started, -1)
  end
  if batch.leave then
    redis.call('UNLINK', base .. 'marks:' .. epoch)  -- it has released its pages
    bury(epoch)
  end
end

if new then
  redis.call('HSET', base .. 'done', epoch, number)
  apply()
end
for _, node in ipairs(batch.dead or {}) do
  bury(tostring(node))
end
-- after a pause of Redis, the batches of the other nodes wait behind this one: none is late
if ARGV[5] == '1' and now < ends - ARGV[3] / 2 then
  for _, node in ipairs(redis.call('ZRANGEBYSCORE', base .. 'nodes', '-inf', now - 1)) do
    bury(node)
  end
end

local function size(bucket)
  return redis.call('HLEN', base .. 'rows:' .. bucket) + redis.call('HLEN', base .. 'hosts:' .. bucket)
end

local taken = {}
for _, bucket in ipairs(not batch.leave and batch.take or {}) do
  local owner = redis.call('HGET', claims, bucket)
  local gone = owner and not redis.call('ZSCORE', base .. 'nodes', owner)
  if new and (gone or not owner) then  -- the answer to a late copy is read by no node
    redis.call('HSET', claims, bucket, epoch)
    local left = gone and '-1' or redis.call('HGET', base .. 'left', bucket) or ''
    redis.call('HDEL', base .. 'left', bucket)
    redis.call('DEL', base .. 'leased:' .. bucket)
    taken[#taken + 1] = {bucket, left, size(bucket)}
  elseif owner == epoch then
    taken[#taken + 1] = {bucket, '', size(bucket)}
  end
end

local mail, room = {}, MOST
for _, bucket in ipairs(redis.call('SMEMBERS', base .. 'post')) do
  if room > 0 and redis.call('HGET', claims, bucket) == epoch then
    local letters = redis.call('LRANGE', base .. 'mail:' .. bucket, 0, room - 1)
    room = room - #letters
    mail[#mail + 1] = {tonumber(bucket), letters}
  end
end

local view = {}
if ARGV[4] == '1' then
  view = {
    redis.call('ZRANGE', base .. 'nodes', 0, -1, 'WITHSCORES'),
    redis.call('HGETALL', base .. 'names'),
    redis.call('HGETALL', claims),
    redis.call('HGETALL', base .. 'left'),
    redis.call('HGETALL', base .. 'sizes'),
    redis.call('HGETALL', base .. 'weights'),
    redis.call('SMEMBERS', base .. 'post'),
  }
end
return cmsgpack.pack({
  'ok', time[1] + time[2] / 1000000, redis.call('HGETALL', base .. 'tally'),
  redis.call('HMGET', base .. 'progress', 'pages', 'worth', 'turn'), taken, mail, view,
})
