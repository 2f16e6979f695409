"""WHERE IT STAYS when several machines crawl: MongoDB, one collection a kind. docs/storage.md."""
