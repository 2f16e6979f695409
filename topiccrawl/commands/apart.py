"""A state of its own for a command that is no crawl: no stored crawl is touched by it."""

from __future__ import annotations

import os
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.settings import BaseSettings

_OUTCOME = "topiccrawl.extensions.outcome.CrawlOutcome"
_NAMED = ("REDIS_URL", "MONGODB_URI", "TOPICCRAWL_WEBHOOK")
"""What others would notice, by settings or environment."""


@contextmanager
def apart(settings: BaseSettings | None) -> Iterator[None]:
    """Let what runs meanwhile keep its frontier in a folder that is deleted in the end.

    In a crawl's frontier a page that was looked at would count as fetched, with links unseen.
    """
    assert settings is not None  # noqa: S101  (Scrapy sets them before run)
    with TemporaryDirectory(prefix="topiccrawl-", ignore_cleanup_errors=True) as folder:
        nowhere = dict.fromkeys((*_NAMED, "JOBDIR", "REDIS_HOST"), "")
        settings.setdict({"TOPICCRAWL_DATA_DIR": folder, **nowhere}, priority="cmdline")
        settings["EXTENSIONS"].set(_OUTCOME, None, priority="cmdline")  # no summary
        named = {name: os.environ.pop(name) for name in _NAMED if name in os.environ}
        try:
            yield
        finally:
            os.environ.update(named)
