"""A storage in JSON files: an example of a backend outside of topiccrawl (docs/storage.md)."""

from __future__ import annotations

from examples.jsonstore.articles import JsonStore
from examples.jsonstore.storage import JsonStorage

__all__ = ["JsonStorage", "JsonStore"]
