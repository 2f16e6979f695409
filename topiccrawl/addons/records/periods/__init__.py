"""Periods of a template crawl: sampled seeds, their pages and their records."""
