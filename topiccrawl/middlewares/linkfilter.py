"""Keeps links out of the frontier that need not be fetched: foreign hosts, traps, files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from topiccrawl.links.traps import trap
from topiccrawl.model import Findings
from topiccrawl.scheduler.build import hosts_of, traps_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from topiccrawl.links.hosts import HostRules
    from topiccrawl.links.traps import TrapRules
    from topiccrawl.model import Offer


class LinkFilterMiddleware:
    """Drops links by rule; each drop is counted under its reason.

    Args:
        hosts: Hosts that may or may not be crawled.
        traps: Thresholds of the trap rules; None switches them off.
        count: Takes the name of a stat.
    """

    def __init__(
        self, hosts: HostRules, traps: TrapRules | None, count: Callable[[str], None]
    ) -> None:
        self.hosts = hosts
        self.traps = traps
        self.count = count

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware for the spider's topic and the crawl's settings."""
        stats = crawler.stats
        return cls(
            hosts_of(crawler),
            traps_of(crawler.settings),
            lambda name: stats.inc_value(f"topiccrawl/links/{name}"),
        )

    async def process_spider_output(
        self,
        response: Response,  # noqa: ARG002
        result: AsyncIterator[Any],
    ) -> AsyncIterator[Any]:
        """Pass all output on; remove the links that a rule refuses from findings."""
        async for output in result:
            if isinstance(output, Findings):
                yield output._replace(offers=tuple(filter(self._wanted, output.offers)))
            else:
                yield output

    def _wanted(self, offer: Offer) -> bool:
        reason = self.hosts.refuse(offer.url)
        if reason is None and self.traps is not None:
            reason = trap(offer.url, self.traps)
        if reason is not None:
            self.count(reason)
        return reason is None
