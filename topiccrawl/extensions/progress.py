"""Progress line of a running crawl, written if standard error is a terminal."""

from __future__ import annotations

import logging
import os
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TextIO

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import create_looping_call

from topiccrawl.extensions.figures import CrawlFigures
from topiccrawl.messages import escaped, tr
from topiccrawl.scheduler.context import context_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.crawler import Crawler

_EVERY = 0.5
"""Seconds between two refreshes."""
_WIDE = "\u1100"
"""First character that may take two columns; this and all later ones count as two."""


class Progress:
    """Progress line: pages, harvest rate, articles, duplicates and queues, refreshed in place."""

    def __init__(self, crawler: Crawler, stream: TextIO) -> None:
        self.crawler = crawler
        self.stream = stream
        self.started = time.monotonic()
        self.loop = create_looping_call(self.show)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension.

        Raises:
            NotConfigured: If standard error is not a terminal, or the scheduler is not ours.
        """
        if not sys.stderr.isatty():
            raise NotConfigured
        progress = cls(crawler, sys.stderr)
        crawler.signals.connect(progress.start, signals.spider_opened)
        crawler.signals.connect(progress.stop, signals.spider_closed)
        return progress

    def start(self) -> None:
        """Show the line, and clear it before each log record."""
        for handler in logging.getLogger().handlers:
            handler.addFilter(self._clear_first)
        self.loop.start(_EVERY, now=False)

    def stop(self) -> None:
        """Remove the line."""
        if self.loop.running:
            self.loop.stop()
        self._write("\x1b[2K\r")

    def show(self) -> None:
        """Write the line once, and move the cursor back to its start."""
        context = context_of(self.crawler)
        if not context.opened:
            return
        seconds = time.monotonic() - self.started
        figures = self.crawler.get_extension(CrawlFigures)
        why = figures.waiting().text(tr) if figures is not None else ""
        if not self.crawler.crawling:  # after the first Ctrl-C
            why = tr("stopping after open requests (Ctrl-C: at once)")
        stats, counts = self.crawler.stats.get_stats(), context.frontier.counts()
        own = context.progress
        line = own() if own else progress_line(stats, counts, seconds, why)
        width = shutil.get_terminal_size().columns - 1
        self._write(f"\x1b[2K{fit(escaped(line), width)}\r")

    def _clear_first(self, _record: logging.LogRecord) -> bool:
        self._write("\x1b[2K")
        return True

    def _write(self, text: str) -> None:
        """Write to the terminal; if it was closed, discard this and all later output."""
        try:
            self.stream.write(text)
            self.stream.flush()
        except OSError:
            with Path(os.devnull).open("w") as nothing:
                os.dup2(nothing.fileno(), self.stream.fileno())


def progress_line(
    stats: Mapping[str, Any], queues: Mapping[str, int], seconds: float, why: str = ""
) -> str:
    """Return the progress line.

    Args:
        stats: Stats of the crawl; "next" in the line is the forecast of ``YieldStop``.
        queues: Sizes of the queues.
        seconds: Seconds since the start of the crawl.
        why: Reason for waiting, put first; "" while the crawl fetches.

    >>> progress_line({"topiccrawl/pages": 40, "topiccrawl/relevant": 30}, {"prior": 7}, 20.0)
    '40 pages (2.0/s) · 30 on topic (harvest 75%) · 0 articles · 0 duplicates · prior 7 ...'
    """
    pages = stats.get("topiccrawl/pages", 0)
    relevant = stats.get("topiccrawl/relevant", 0)
    speed = pages / seconds if seconds else 0.0
    harvest = relevant / pages if pages else 0.0
    expected = stats.get("topiccrawl/expected_yield")
    outlook = "" if expected is None else tr(" · next {share}", share=f"{expected:.0%}")
    before = f"{why} · " if why else ""
    found = tr(
        "{pages} pages ({speed}/s) · {relevant} on topic (harvest {harvest})",
        pages=pages, speed=f"{speed:.1f}", relevant=relevant, harvest=f"{harvest:.0%}",
    )  # fmt: skip
    stored = tr(
        "{articles} articles · {duplicates} duplicates · "
        "prior {prior} normal {normal} error {error}",
        articles=stats.get("topiccrawl/articles", 0),
        duplicates=stats.get("topiccrawl/duplicates", 0),
        **{name: queues.get(name, 0) for name in ("prior", "normal", "error")},
    )
    return f"{before}{found}{outlook} · {stored}"


def fit(text: str, columns: int) -> str:
    """Cut a text to a number of terminal columns; wide characters take two.

    >>> fit("abc", 2), fit("新闻", 3)
    ('ab', '新')
    """
    used = 0
    for index, character in enumerate(text):
        used += 1 + (character >= _WIDE)
        if used > columns:
            return text[:index]
    return text
