"""Scrapy extensions that run beside the crawl: figures, progress, control, stops, summary."""
