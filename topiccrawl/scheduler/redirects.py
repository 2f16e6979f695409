"""Leases whose response is a redirect: continued, passed to another URL, or ended."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from topiccrawl.frontier.contract import Ending, Frontier, Outcome
from topiccrawl.links.urls import canonical, host_of
from topiccrawl.model import Kind, Lease
from topiccrawl.scheduler.build import link_refusal
from topiccrawl.scheduler.requests import is_distinct, redirect_target

if TYPE_CHECKING:
    from scrapy import Request

    from topiccrawl.scheduler.context import CrawlContext


class FollowUpQueue:
    """Further requests of open leases, first come, first served per host.

    A redirect to the same page with a cookie, or of a robots.txt, continues its lease with one more
    request to the host. If the process dies, the lease returns to its queue.
    """

    def __init__(self, frontier: Frontier) -> None:
        self.frontier = frontier
        self._hosts: dict[str, deque[Request]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._hosts.values()))

    def push(self, request: Request) -> None:
        """Append a request to its host's queue."""
        self._hosts.setdefault(host_of(request.url), deque()).append(request)

    def pop(self) -> tuple[Request, str] | None:
        """Return a request that is allowed now and the host whose slot it has, or None."""
        for host, queue in list(self._hosts.items()):
            if self.frontier.acquire(host):
                request = queue.popleft()
                del self._hosts[host]
                if queue:
                    self._hosts[host] = queue  # at the end, so that hosts take turns
                return request, host
        return None


class Redirects:
    """Handler of redirects.

    Args:
        context: Context of the crawl, with an open frontier.
        followups: Queue of requests that continue their lease.
    """

    def __init__(self, context: CrawlContext, followups: FollowUpQueue) -> None:
        self._crawler, self._book = context.crawler, context.book
        self._continuations = followups
        self._has_no_topic = context.spec.topic is None
        self._refuse = context.hosts.refuse if self._has_no_topic else link_refusal(context.crawler)

    def follow(self, request: Request, lease: Lease) -> bool:
        """Continue the lease, or end it and queue the target with its value.

        Returns:
            False if the redirect is refused.
        """
        spider = self._crawler.spider
        assert spider is not None  # noqa: S101 - it sent the request
        target, payload = lease.url, None
        if lease.kind is not Kind.ROBOTS:
            fingerprint = self._crawler.request_fingerprinter.fingerprint(request)
            target, payload = redirect_target(request, lease, spider, fingerprint)
            if reason := self._refusal(request, lease):
                self._book.failed(lease.epoch, reason)
                return False
        if target == lease.url:
            self._continuations.push(request)
            return True
        redirects = int(request.meta.get("redirect_times", 1))
        self._crawler.stats.inc_value("topiccrawl/frontier/redirected")
        outcome = Outcome(Ending.REDIRECTED, target=target, redirects=redirects, payload=payload)
        self._book.settle(lease.epoch, outcome)
        return True

    def _refusal(self, request: Request, lease: Lease) -> str | None:
        """Return the reason why a redirect is refused, or None; the rules are those of links.

        As in Scrapy, ``dont_filter`` and ``allow_offsite`` override the ``allowed_domains`` of a
        spider without a topic.
        """
        url = canonical(request.url) or request.url
        if url == lease.url:
            return None
        if self._has_no_topic and (request.meta.get("allow_offsite") or is_distinct(lease.url)):
            return None
        return self._refuse(url)
