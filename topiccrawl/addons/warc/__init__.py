"""Archives of fetched pages as WARC files."""
