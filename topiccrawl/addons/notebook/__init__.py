"""Stored data of crawls as pandas data frames for notebooks (examples/crawl.ipynb)."""

from __future__ import annotations

from topiccrawl.addons.notebook.folder import DataFolder, open

__all__ = ["DataFolder", "open"]
