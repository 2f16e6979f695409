"""PDF files read as pages: text, title and day."""
