"""topiccrawl: a focused news crawler on Scrapy, Chinese first.

What programs use without a crawl is imported from here (docs/api.md). A name's module is imported
when the name is first used; ``__init__.pyi`` has the types.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.2.0"

_PUBLIC = {
    "Addon": "topiccrawl.addon",
    "Article": "topiccrawl.model",
    "DuplicateDetector": "topiccrawl.dedup",
    "EmbeddedFrontier": "topiccrawl.frontier.embedded",
    "Frontier": "topiccrawl.frontier.contract",
    "Link": "topiccrawl.model",
    "Match": "topiccrawl.dedup",
    "Page": "topiccrawl.model",
    "RelevanceModel": "topiccrawl.topics",
    "Scorer": "topiccrawl.topics",
    "SeedProvider": "topiccrawl.discovery",
    "Topic": "topiccrawl.topics",
    "Verdict": "topiccrawl.model",
    "canonicalize_url": "topiccrawl.links",
    "decode": "topiccrawl.text",
    "extract_article": "topiccrawl.extract",
    "find_duplicates": "topiccrawl.dedup",
    "find_topic": "topiccrawl.topics",
    "open": "topiccrawl.addons.notebook",
    "read_page": "topiccrawl.links",
}
"""Public names and the modules that have them."""

__all__ = list(_PUBLIC)


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any public name
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
