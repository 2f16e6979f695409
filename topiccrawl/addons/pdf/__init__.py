"""PDF files: converted to HTML pages with text, title and date."""
