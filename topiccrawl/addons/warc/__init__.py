"""WARC add-on: archives fetched pages, removes and re-extracts them."""
