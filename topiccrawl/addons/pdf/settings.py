"""Settings of PDF files (docs/extraction.md); needs the extra ``pdf``."""

TOPICCRAWL_PDF = False
"""Fetch PDF files and parse them as pages, so that those on topic are stored as articles."""
TOPICCRAWL_PDF_PAGES = 20
"""Maximum number of pages read from a PDF file; further pages are ignored."""
TOPICCRAWL_PDF_BYTES = 10_000_000
"""Maximum size of a PDF file in bytes; larger files are counted and not read."""

DOWNLOADER_MIDDLEWARES = {
    "topiccrawl.addons.pdf.middleware.PdfMiddleware": 570,  # after the archive (580)
}
TOPICCRAWL_CHECKS = {"topiccrawl.addons.pdf.middleware.check_pdf": 200}
