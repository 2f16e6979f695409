"""Stored data of crawls as pandas data frames for notebooks (examples/crawl.ipynb)."""

from topiccrawl.addons.notebook.folder import DataFolder, open

__all__ = ["DataFolder", "open"]
