-- The register of turns at hosts. KEYS: base. ARGV: name of the node, its life in ms, its clock
-- (seconds), its identity (JSON), the number of this message, and a msgpack map: give (host, time of
-- the next allowed request, ...), ask (host, its delay, ...), dead (names of nodes), leave.
-- Returns msgpack: 'late' or 'ok', (host, time, ...) of new turns, hosts that others wait for, and
-- (name, identity, ...) of nodes that hold what it waits for.
local base, node, clock = KEYS[1], ARGV[1], tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local nodes, names, turns, waits, clocks =
  base .. 'nodes', base .. 'names', base .. 'turns', base .. 'waits', base .. 'clocks'
local KEPT = 3600  -- seconds after which an unused register expires
local batch = cmsgpack.unpack(ARGV[6])

local words = base .. 'words'
if tonumber(redis.call('HGET', words, node) or 0) >= tonumber(ARGV[5]) then
  return cmsgpack.pack({'ok', {}, {}, {}})  -- from an abandoned connection: newer ones came since
end
redis.call('HSET', words, node, ARGV[5])

local known = redis.call('ZSCORE', nodes, node)
local late = known and tonumber(known) < now
redis.call('ZADD', nodes, now + ARGV[2], node)
redis.call('HSET', names, node, ARGV[4])
for _, name in ipairs(batch.dead) do
  redis.call('ZREM', nodes, name)
  redis.call('HDEL', names, name)
  redis.call('HDEL', words, name)
end

local function alive(name)
  local till = redis.call('ZSCORE', nodes, name)
  return till and tonumber(till) >= now
end

local function note(kind, name, host)
  redis.call('SADD', base .. kind .. ':' .. name, host)
  redis.call('EXPIRE', base .. kind .. ':' .. name, KEPT)
end

local function line_of(host, keeps)  -- living nodes in its queue; this one only if it keeps its place
  local line, packed = {}, redis.call('HGET', waits, host)
  for _, name in ipairs(packed and cmsgpack.unpack(packed) or {}) do
    if name == node and keeps or name ~= node and alive(name) then
      line[#line + 1] = name
    end
  end
  return line
end

local function keep_line(host, line)
  if #line > 0 then
    redis.call('HSET', waits, host, cmsgpack.pack(line))
  else
    redis.call('HDEL', waits, host)
  end
end

local function hand(host, line)  -- to the first in the queue, if there is one
  local first = table.remove(line, 1)
  keep_line(host, line)
  if not first then
    redis.call('HDEL', turns, host)
    return
  end
  redis.call('HSET', turns, host, first)
  note('granted', first, host)
  if #line > 0 then
    note('called', first, host)
  end
end

for at = 1, #batch.give, 2 do
  local host, till = batch.give[at], batch.give[at + 1]
  local line = line_of(host)
  redis.call('SREM', base .. 'called:' .. node, host)
  if redis.call('HGET', turns, host) == node then
    redis.call('ZADD', clocks, 'GT', till, host)
    hand(host, line)
  else
    keep_line(host, line)
  end
end

local holders = {}
for at = 1, #batch.ask, 2 do
  local host, delay = batch.ask[at], batch.ask[at + 1]
  local owner = redis.call('HGET', turns, host)
  if owner and owner ~= node and not alive(owner) then
    redis.call('ZADD', clocks, 'GT', clock + delay, host)  -- requests may have been sent until now
    owner = false
  end
  if owner ~= node then
    local line, stands = line_of(host, true), false
    for _, name in ipairs(line) do
      stands = stands or name == node
    end
    if not stands then
      line[#line + 1] = node
    end
    if owner then
      keep_line(host, line)
      note('called', owner, host)
      holders[owner] = true
    else
      hand(host, line)
      owner = redis.call('HGET', turns, host)
    end
  end
  if owner == node then
    note('granted', node, host)
  end
end

if batch.leave then
  redis.call('ZREM', nodes, node)
  redis.call('HDEL', names, node)
  redis.call('HDEL', words, node)
  redis.call('DEL', base .. 'called:' .. node)
end
local granted = {}
for _, host in ipairs(redis.call('SMEMBERS', base .. 'granted:' .. node)) do
  if redis.call('HGET', turns, host) == node then
    granted[#granted + 1] = host
    granted[#granted + 1] = redis.call('ZSCORE', clocks, host) or '0'
  end
end
redis.call('DEL', base .. 'granted:' .. node)
redis.call('ZREMRANGEBYSCORE', clocks, '-inf', clock)
for _, key in ipairs({nodes, names, turns, waits, clocks, words}) do
  redis.call('EXPIRE', key, KEPT)
end
local members = {}
for name in pairs(holders) do
  members[#members + 1] = name
  members[#members + 1] = redis.call('HGET', names, name) or '{}'
end
return cmsgpack.pack({late and 'late' or 'ok', granted, redis.call('SMEMBERS', base .. 'called:' .. node), members})
