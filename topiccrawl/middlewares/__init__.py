"""Scrapy middlewares: thin hooks between Scrapy and the packages that decide."""
