"""Keeps links out of the frontier that need not be fetched: foreign hosts, traps, files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from scrapy.exceptions import IgnoreRequest, NotConfigured

from topiccrawl.links.traps import trap
from topiccrawl.links.urlrules import UrlRules
from topiccrawl.model import Findings, Kind
from topiccrawl.scheduler import meta
from topiccrawl.scheduler.build import hosts_of, traps_of
from topiccrawl.scheduler.context import context_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from topiccrawl.links.hosts import HostRules
    from topiccrawl.links.traps import TrapRules
    from topiccrawl.model import Lease, Offer


class LeftOutError(IgnoreRequest):
    """A queued URL that the topic's rules refuse by now."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"{url}: {reason}")
        self.reason = reason


class UrlGateMiddleware:
    """Refuses what the topic's include and exclude rules refuse, whatever it was queued as.

    Links are refused before they are queued; this is for examples, start URLs from Redis, revisits
    and a queue that is older than the rules. Pages of searches and robots.txt pass.

    Args:
        rules: Rules of the topic.
        lease: Returns the lease of a request, None where it has none.
    """

    def __init__(self, rules: UrlRules, lease: Callable[[Request], Lease | None]) -> None:
        self.rules = rules
        self.lease = lease

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware.

        Raises:
            NotConfigured: If the spider has no topic, or the topic no rules.
        """
        context = context_of(crawler)
        topic = context.spec.topic
        if topic is None or not (topic.include or topic.exclude):
            raise NotConfigured
        return cls(UrlRules(topic.include, topic.exclude), context.lease)

    def process_request(self, request: Request) -> None:
        """Let a request pass, or raise LeftOutError."""
        lease = self.lease(request)
        if lease is None or lease.kind is Kind.ROBOTS or meta.ROLE in request.meta:
            return
        if reason := self.rules.refuse(request.url):
            raise LeftOutError(request.url, reason)


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
