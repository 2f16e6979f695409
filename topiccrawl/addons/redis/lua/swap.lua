-- Changes rows of the ledger if none has changed since they were read. KEYS: base. ARGV: the rows as
-- they were read and as they shall be (JSON lists of kind, name and text, without text for no row).
-- Returns 1 if they were written, 0 otherwise.
for _, row in ipairs(cjson.decode(ARGV[1])) do
  local found = redis.call('HGET', KEYS[1] .. row[1], row[2])
  if (found or nil) ~= row[3] then
    return 0
  end
end
for _, row in ipairs(cjson.decode(ARGV[2])) do
  if row[3] then
    redis.call('HSET', KEYS[1] .. row[1], row[2], row[3])
  else
    redis.call('HDEL', KEYS[1] .. row[1], row[2])
  end
end
return 1
