"""Doctor add-on: checks that all is available that a crawl needs."""
