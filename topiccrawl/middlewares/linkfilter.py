"""Filters of links and requests by rule: foreign hosts, traps, files, include and exclude rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware
from typing_extensions import override

from topiccrawl.model import Findings, Kind, Lease, Offer
from topiccrawl.scheduler import meta
from topiccrawl.scheduler.build import hosts_of, link_refusal, url_rules
from topiccrawl.scheduler.context import context_of

if TYPE_CHECKING:
    from collections.abc import Callable

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


class LinkFilterMiddleware(BaseSpiderMiddleware):
    """Drops links by rule; each drop is counted by its reason.

    Args:
        crawler: Crawler, whose spider's topic and settings give the rules.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._refuse = link_refusal(hosts_of(crawler), crawler.settings)

    @override
    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        """Return findings without the links that a rule refuses; other items unchanged."""
        if not isinstance(item, Findings):
            return item
        return item._replace(offers=tuple(filter(self._is_allowed, item.offers)))

    def _is_allowed(self, offer: Offer) -> bool:
        reason = self._refuse(offer.url)
        if reason is not None:
            self.crawler.stats.inc_value(f"topiccrawl/links/{reason}")
        return reason is None
