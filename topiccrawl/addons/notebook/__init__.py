"""Stored data of crawls as pandas frames for notebooks and programs (examples/crawl.ipynb)."""

from __future__ import annotations

from topiccrawl.addons.notebook.folder import DataFolder, open

__all__ = ["DataFolder", "open"]
