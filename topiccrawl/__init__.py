"""topiccrawl: a focused news crawler on Scrapy, Chinese first."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_PUBLIC = {"Addon": "topiccrawl.addon"}
"""Public names and the modules that have them, imported when they are first asked for."""


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any public name
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
