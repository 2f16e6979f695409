"""The topic learns from the crawl."""
