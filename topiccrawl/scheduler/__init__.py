"""Scrapy scheduler on the frontier: leases become requests, responses become outcomes."""
