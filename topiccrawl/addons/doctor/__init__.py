"""Doctor add-on: checks the environment of a crawl."""
