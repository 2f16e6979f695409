"""Temporary state for commands that are no crawls, so that they change no stored crawl."""

from __future__ import annotations

import os
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from scrapy.settings import BaseSettings

_OUTCOME = "topiccrawl.extensions.outcome.CrawlOutcome"
_NAMED = ("REDIS_URL", "MONGODB_URI", "TOPICCRAWL_WEBHOOK")
"""Shared services, by settings or environment, that the command must not reach."""
_STORAGE = "topiccrawl.storage.sqlite.SqliteStorage"


class Apart:
    """Scrapy's own command, with a state that is deleted.

    A command derives from this class and then from Scrapy's. This class does not: Scrapy takes each
    subclass of ``ScrapyCommand`` in this folder for a command.
    """

    settings: Any

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run Scrapy's own."""
        with apart(self.settings):
            super().run(args, opts)  # type: ignore[misc]


@contextmanager
def apart(settings: BaseSettings | None) -> Iterator[None]:
    """Keep the frontier of what runs meanwhile in a folder that is deleted in the end.

    In a crawl's frontier such a page would count as fetched, with its links not queued.
    """
    assert settings is not None  # noqa: S101  (Scrapy sets them before run)
    with TemporaryDirectory(prefix="topiccrawl-", ignore_cleanup_errors=True) as folder:
        nowhere = dict.fromkeys((*_NAMED, "JOBDIR", "REDIS_HOST"), "")
        own = {"TOPICCRAWL_DATA_DIR": folder, "TOPICCRAWL_STORAGE": _STORAGE}
        settings.setdict({**own, **nowhere}, priority="cmdline")
        settings["EXTENSIONS"].set(_OUTCOME, None, priority="cmdline")  # no summary
        named = {name: os.environ.pop(name) for name in _NAMED if name in os.environ}
        try:
            yield
        finally:
            os.environ.update(named)
