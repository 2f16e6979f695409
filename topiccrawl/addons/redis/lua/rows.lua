-- Returns all rows of the ledger. KEYS: base. ARGV: kinds of rows. Returns a flat list of names and
-- texts for each kind.
local found = {}
for _, kind in ipairs(ARGV) do
  found[#found + 1] = redis.call('HGETALL', KEYS[1] .. kind)
end
return found
