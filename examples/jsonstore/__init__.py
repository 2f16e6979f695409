"""Storage in a JSON file: an example of a custom storage backend (docs/storage.md)."""

from __future__ import annotations

from examples.jsonstore.articles import JsonStore
from examples.jsonstore.storage import JsonStorage

__all__ = ["JsonStorage", "JsonStore"]
