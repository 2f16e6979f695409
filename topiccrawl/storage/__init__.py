"""Storage of articles, site knowledge, records and run states, behind protocols."""
