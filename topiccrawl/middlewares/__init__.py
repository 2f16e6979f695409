"""Scrapy middlewares: thin adapters from Scrapy's hooks to the other packages."""
