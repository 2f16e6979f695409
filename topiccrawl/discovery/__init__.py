"""Seed providers: search engines, feeds, sitemaps, indexes and lists, read without the network."""
