"""SPIDERS: the whole flow of a crawl, readable in one screen each."""
