"""Settings of PDF files (docs/extraction.md); needs the extra ``pdf``."""

from __future__ import annotations

TOPICCRAWL_PDF = False
"""Fetch PDF files and read them as pages, so that those on topic are stored as articles."""
TOPICCRAWL_PDF_PAGES = 20
"""Pages read of a PDF file; the rest is left out."""
TOPICCRAWL_PDF_BYTES = 10_000_000
"""Bytes of a PDF file that is read; a larger one is counted and left unread."""

DOWNLOADER_MIDDLEWARES = {
    "topiccrawl.addons.pdf.middleware.PdfMiddleware": 570,  # after the archive (580) has it
}
TOPICCRAWL_CHECKS = {"topiccrawl.addons.pdf.middleware.check_pdf": 200}
