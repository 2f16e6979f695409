"""Dashboard add-on: figures of a crawl, why it waits, a page, metrics and reports."""
