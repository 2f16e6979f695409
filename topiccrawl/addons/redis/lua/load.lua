-- Returns a piece of a bucket. KEYS: base. ARGV: bucket, cursor, approximate number of rows, whether
-- pages will be crawled again. Returns the next cursor, rows, out-links of those that may be crawled,
-- and with the first piece: hosts, statistics, robots.txt files, filters of evicted URLs, and how
-- often pages were being processed when their node timed out.
local base, bucket, cursor = KEYS[1], ARGV[1], ARGV[2]
local CRAWLED = 1
local found = redis.call('HSCAN', base .. 'rows:' .. bucket, cursor, 'COUNT', ARGV[3])
local rows, links = found[2], {}
for at = 1, #rows, 2 do
  if ARGV[4] == '1' or string.byte(rows[at + 1], 1) ~= CRAWLED then
    local known = redis.call('HGET', base .. 'out:' .. bucket, rows[at])
    if known then
      links[#links + 1] = rows[at]
      links[#links + 1] = known
    end
  end
end
local first = {}
if cursor == '0' then
  for _, name in ipairs({'hosts', 'stats', 'robots', 'seen', 'crashed'}) do
    first[#first + 1] = redis.call('HGETALL', base .. name .. ':' .. bucket)
  end
end
return {found[1], rows, links, first}
