"""Frontier of a crawl: the queue of URLs and the state of every recorded URL."""
