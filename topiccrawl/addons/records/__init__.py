"""Template crawls: find seeds, follow layers of links, extract records."""
