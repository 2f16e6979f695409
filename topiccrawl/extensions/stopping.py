"""Calibrated stop: ends the crawl when too few of the queued URLs are expected to be relevant."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Self

from scrapy.exceptions import NotConfigured

from topiccrawl.errors import SettingError
from topiccrawl.extensions.forecast import YieldForecast
from topiccrawl.frontier.contract import Ending, Kind
from topiccrawl.frontier.view import Outlook
from topiccrawl.scheduler.context import context_of
from topiccrawl.scheduler.hooks import number

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from topiccrawl.frontier.contract import Lease, Outcome
    from topiccrawl.scheduler.context import CrawlContext

logger = logging.getLogger(__name__)

REASON = "topiccrawl_yield"
"""Finish reason where the forecast is below TOPICCRAWL_STOP_YIELD."""

EVERY = 10
"""Fetched pages between two forecasts."""

AGREEING = 3
"""Consecutive low forecasts that end the crawl: a single one may be an outlier."""


class YieldStop:
    """Calibrates scores, and closes the spider when the best queued URLs promise too little.

    Args:
        context: The crawl that may end.
        judges: Returns whether a page of a relevance is on topic.
        level: Share of relevant pages among the next ones below which the crawl ends, in (0, 1].
        window: Outcomes that calibrate the forecast; there is none before.
        ahead: Pages of a forecast, and queued URLs that are read for it.
    """

    def __init__(
        self, context: CrawlContext, judges: Callable[[float], bool], level: float, window: int,
        ahead: int,
    ) -> None:  # fmt: skip
        self.context = context
        self.judges = judges
        self.level = level
        self.window = window
        self.ahead = ahead
        self.forecast = YieldForecast(window, ahead)
        self._outcomes = 0
        self._low = 0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension.

        Raises:
            NotConfigured: If TOPICCRAWL_STOP_YIELD is 0, or the spider judges no pages.
            SettingError: If a setting cannot be used.
        """
        settings, context = crawler.settings, context_of(crawler)
        level, judges = level_of(settings), context.spec.judges
        if not level or judges is None:
            raise NotConfigured
        if context.spec.watch == "on":  # it ends when cancelled; what is due was found relevant
            logger.info("TOPICCRAWL_STOP_YIELD does not end a crawl that watches")
            raise NotConfigured
        window = max(1, int(number(settings, "TOPICCRAWL_STOP_WINDOW")))
        ahead = max(1, int(number(settings, "TOPICCRAWL_STOP_AHEAD")))
        stop = cls(context, judges, level, window, ahead)
        context.on_settled(stop.settled)
        return stop

    def settled(self, lease: Lease, outcome: Outcome) -> None:
        """Learn from the outcome of a URL, and forecast from time to time.

        Seeds are left out: the operator set their score.
        """
        fetched = outcome.ending in {Ending.CRAWLED, Ending.ERROR}
        if not fetched or lease.kind is Kind.ROBOTS or not lease.evidence:
            return
        hit = outcome.ending is Ending.CRAWLED and outcome.harvest
        self.forecast.observe(lease.value, hit=hit)
        self._outcomes += 1
        if self._outcomes >= self.window and self._outcomes % EVERY == 0:
            self.look()

    def look(self) -> None:
        """Record the forecast for the next pages; close where it is too low repeatedly."""
        expected = self.expected()
        if expected is None or self._low >= AGREEING:
            return
        self.context.crawler.stats.set_value("topiccrawl/expected_yield", expected)
        self._low = self._low + 1 if expected < self.level else 0
        if self._low >= AGREEING:
            logger.info(
                "The crawl ends: of the next %d pages %.1f %% are expected to be on topic, "
                "less than TOPICCRAWL_STOP_YIELD (%.1f %%); without it, it goes on",
                self.ahead, 100 * expected, 100 * self.level,
            )  # fmt: skip
            self.context.end(REASON)

    def expected(self) -> float | None:
        """Share of relevant pages expected of the next ones; None where nothing is queued."""
        if not self.context.opened:
            return None
        frontier = self.context.frontier
        values = frontier.best(self.ahead) if isinstance(frontier, Outlook) else []
        return self.forecast.expect(values) if values else None


def level_of(settings: BaseSettings) -> float:
    """Return the share of relevant pages below which a crawl ends, in [0, 1]; 0: never.

    Raises:
        SettingError: TOPICCRAWL_STOP_YIELD is no share.
    """
    level = number(settings, "TOPICCRAWL_STOP_YIELD")
    if level > 1:
        raise SettingError(f"TOPICCRAWL_STOP_YIELD is {level:g}: give a share, such as 0.05")
    return level
