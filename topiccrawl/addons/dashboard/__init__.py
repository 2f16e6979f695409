"""Dashboard add-on: web pages, metrics and reports of crawls."""
