"""Periods of a template crawl: seeds drawn by chance, their pages and the outcomes."""
