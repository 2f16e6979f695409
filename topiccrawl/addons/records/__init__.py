"""Template crawls: search, seeds, layers of links, records."""
