"""Filters of links and requests by rule: foreign hosts, traps, files, include and exclude rules."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Self

from scrapy.exceptions import IgnoreRequest, NotConfigured
from typing_extensions import override

from topiccrawl.model import Findings, Kind, Lease, Offer
from topiccrawl.scheduler import meta
from topiccrawl.scheduler.build import link_refusal, url_rules
from topiccrawl.scheduler.context import context_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response


class ExcludedUrlError(IgnoreRequest):
    """A queued URL that the topic's rules now refuse."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"{url}: {reason}")
        self.reason = reason


class UrlGateMiddleware:
    """Refuses all requests that the topic's include and exclude rules refuse.

    Links are refused before they are queued. This middleware covers examples, start URLs from
    Redis, revisits, and URLs that were queued before the rules changed. Pages of searches and
    robots.txt files are exempt.

    Args:
        refuse: Returns the reason why the topic's rules refuse a URL, or None.
        lease: Returns the lease of a request, or None.
    """

    def __init__(
        self, refuse: Callable[[str], str | None], lease: Callable[[Request], Lease | None]
    ) -> None:
        self.refuse = refuse
        self.lease = lease

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware.

        Raises:
            NotConfigured: The spider has no topic, or the topic has no rules.
        """
        context = context_of(crawler)
        topic = context.spec.topic
        rules = url_rules(topic) if topic else None
        if rules is None:
            raise NotConfigured
        return cls(rules.refuse, context.lease)

    def process_request(self, request: Request) -> None:
        """Refuse a request by the rules.

        Raises:
            ExcludedUrlError: The rules refuse the URL.
        """
        lease = self.lease(request)
        if lease is None or lease.kind is Kind.ROBOTS or meta.ROLE in request.meta:
            return
        if reason := self.refuse(request.url):
            raise ExcludedUrlError(request.url, reason)


class OfferMiddleware(ABC):
    """Base of spider middlewares that change the links of pages, and nothing else."""

    @abstractmethod
    def changed(self, offers: Iterable[Offer]) -> Iterable[Offer]:
        """Return the links to pass on for those of a page."""

    async def process_spider_output(
        self,
        response: Response,  # noqa: ARG002
        result: AsyncIterator[Any],
    ) -> AsyncIterator[Any]:
        """Pass all output on; change the links in findings."""
        async for output in result:
            if isinstance(output, Findings):
                yield output._replace(offers=tuple(self.changed(output.offers)))
            else:
                yield output


class LinkFilterMiddleware(OfferMiddleware):
    """Drops links by rule; each drop is counted by its reason.

    Args:
        refuse: Returns the reason why links to a URL are not followed, or None.
        count: Called with the name of a stat.
    """

    def __init__(self, refuse: Callable[[str], str | None], count: Callable[[str], None]) -> None:
        self.refuse = refuse
        self.count = count

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware for the spider's topic and the crawl's settings."""
        stats = crawler.stats
        return cls(link_refusal(crawler), lambda name: stats.inc_value(f"topiccrawl/links/{name}"))

    @override
    def changed(self, offers: Iterable[Offer]) -> Iterable[Offer]:
        return filter(self._is_allowed, offers)

    def _is_allowed(self, offer: Offer) -> bool:
        reason = self.refuse(offer.url)
        if reason is not None:
            self.count(reason)
        return reason is None
