"""Retries of a crawl that found nothing: at its next start, and in a watch after a while."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Self

from scrapy import signals
from scrapy.exceptions import DontCloseSpider

from topiccrawl.scheduler.build import number
from topiccrawl.scheduler.scheduler import FrontierScheduler
from topiccrawl.storage.pages import UNHAD

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from topiccrawl.frontier.contract import Frontier
    from topiccrawl.spiders.discovering import Discovery

logger = logging.getLogger(__name__)

KILLER = "crash"
"""Reason of a page that crashed the process repeatedly: the next start skips it."""


class Anew:
    """Retries what a crawl needs to start: its seeds, or a search for them.

    Args:
        crawler: Crawler of the frontier.
        search: The spider's, where it has one.
        watches: Whether the crawl goes on for ever.
        soon: Seconds until the first retry of a search; doubled each time, up to ``UNHAD``.
    """

    def __init__(
        self, crawler: Crawler, search: Discovery | None, soon: float, *, watches: bool
    ) -> None:
        self.crawler = crawler
        self.search = search
        self.watches = watches
        self.soon = soon
        self._at: float | None = None
        self._times = 0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension; raises SettingError if TOPICCRAWL_REVISIT_SHORTEST is no number."""
        spider, soon = crawler.spider, number(crawler.settings, "TOPICCRAWL_REVISIT_SHORTEST")
        watches = getattr(spider, "watch", "") == "on"
        anew = cls(crawler, getattr(spider, "discovery", None), soon, watches=watches)
        crawler.signals.connect(anew.opened, signals.spider_opened)
        if watches and anew.search is not None:
            crawler.signals.connect(anew.idle, signals.spider_idle)
        return anew

    def opened(self) -> None:
        """Queue the failed URLs of earlier runs again, where these fetched not one page.

        Templates are left out: their conductor records the result of each seed.
        """
        scheduler = self.crawler.engine.scheduler
        if not isinstance(scheduler, FrontierScheduler) or not scheduler.opened:
            return
        with scheduler.book.writing() as frontier:
            if not hasattr(self.crawler.spider, "template"):
                self._try_again(frontier)
            if self.search is not None and self.search.is_fruitless(frontier):
                self._ask(frontier, self.search)

    def _try_again(self, frontier: Frontier) -> None:
        counts = frontier.counts()
        if counts["crawled"] == counts.get("redirected", 0):
            failed = [url for url, _, reason in frontier.iterate("error") if reason != KILLER]
            for url in failed:
                frontier.requeue(url)

    def idle(self) -> None:
        """Wait, and retry a failed search; a watch needs a start.

        Raises:
            DontCloseSpider: While that is so.
        """
        scheduler, search = self.crawler.engine.scheduler, self.search
        if search is None or not isinstance(scheduler, FrontierScheduler) or not scheduler.opened:
            return
        if not search.failed(scheduler.frontier):
            return
        now = time.monotonic()
        if self._at is None:
            wait = min(self.soon * 2.0 ** min(self._times, 10), UNHAD)
            self._at, self._times = now + wait, self._times + 1
            again = time.strftime("%H:%M:%S", time.localtime(time.time() + wait))
            logger.warning("Nowhere to begin was found: it is searched again at %s", again)
        if now < self._at:
            scheduler.alarm.after(self._at - now)
        else:
            self._at = None
            with scheduler.book.writing() as frontier:
                self._ask(frontier, search)
            scheduler.alarm.now()
        raise DontCloseSpider

    def _ask(self, frontier: Frontier, search: Discovery) -> None:
        for url in search.again():
            frontier.requeue(url)
