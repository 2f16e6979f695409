-- Deletes a crawl unless a node is alive. KEYS: base. ARGV: number of buckets. Returns the number
-- of live nodes. The counter of epochs is kept, so that no late node is mistaken for a new one.
local base = KEYS[1]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local alive = redis.call('ZCOUNT', base .. 'nodes', now, '+inf')
if alive > 0 then
  return alive
end
for _, node in ipairs(redis.call('ZRANGE', base .. 'nodes', 0, -1)) do
  redis.call('UNLINK', base .. 'starts:' .. node, base .. 'marks:' .. node)
end
for _, name in ipairs({'about', 'nodes', 'names', 'sizes', 'done', 'claims', 'left', 'post',
                       'tally', 'progress', 'weights', 'starts'}) do
  redis.call('UNLINK', base .. name)
end
for bucket = 0, ARGV[1] - 1 do
  for _, name in ipairs({'rows', 'out', 'hosts', 'stats', 'robots', 'leased', 'seen', 'crashed', 'mail'}) do
    redis.call('UNLINK', base .. name .. ':' .. bucket)
  end
end
return 0
