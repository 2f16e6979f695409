"""Yield stop add-on: ends a crawl when the expected yield of its queued URLs is too low."""
