"""Spiders: the flow of a crawl, from start URLs to articles."""
