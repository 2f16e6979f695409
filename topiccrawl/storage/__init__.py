"""Storage: articles, site knowledge, records and run states, behind contracts."""
