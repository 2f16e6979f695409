"""Reprints add-on: detects links to stories that are already stored, before download."""
