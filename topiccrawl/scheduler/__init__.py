"""SCHEDULER: the frontier as Scrapy's scheduler; leases become requests, answers outcomes."""
