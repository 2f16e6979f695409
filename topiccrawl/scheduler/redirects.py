"""Handling of leases whose answer is a redirect: continued, passed to another URL, or ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.frontier.contract import Ending, Outcome
from topiccrawl.links.traps import trap
from topiccrawl.links.urls import canonical
from topiccrawl.scheduler.requests import is_apart, moved_to

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from topiccrawl.frontier.contract import Lease
    from topiccrawl.links.hosts import HostRules
    from topiccrawl.links.traps import TrapRules
    from topiccrawl.scheduler.leases import LeaseBook
    from topiccrawl.scheduler.meta import Ticket
    from topiccrawl.scheduler.side import SideQueue


class Redirects:
    """Handler of redirects.

    Args:
        crawler: Crawler of the spider.
        book: Open leases.
        side: Queue of requests that go on with their lease.
        hosts: Rules of allowed hosts.
        traps: Rules of crawler traps; None where the spider has no topic.
    """

    def __init__(
        self,
        crawler: Crawler,
        book: LeaseBook,
        side: SideQueue,
        hosts: HostRules,
        traps: TrapRules | None,
    ) -> None:
        self._crawler = crawler
        self._book = book
        self._side = side
        self._hosts = hosts
        self._traps = traps

    def go_on(self, request: Request, ticket: Ticket, lease: Lease) -> bool:
        """Follow a redirect: continue the lease, or end it and queue the target with its value.

        Returns False where the redirect is refused.
        """
        spider = self._crawler.spider
        assert spider is not None  # noqa: S101 - it sent the request
        target, payload = lease.url, None
        if not ticket.robots:
            fingerprint = self._crawler.request_fingerprinter.fingerprint(request)
            target, payload = moved_to(request, lease, spider, fingerprint)
            if reason := self._refusal(request, lease):
                self._book.failed(ticket.token, reason)
                return False
        if target == lease.url:
            self._side.push(request)
            return True
        redirects = int(request.meta.get("redirect_times", 1))
        self._crawler.stats.inc_value("topiccrawl/frontier/redirected")
        outcome = Outcome(Ending.REDIRECTED, target=target, redirects=redirects, payload=payload)
        self._book.settle(ticket.token, outcome)
        return True

    def _refusal(self, request: Request, lease: Lease) -> str | None:
        """Return the reason why a redirect is refused, or None; the rules are those of links.

        As in Scrapy, ``dont_filter`` and ``allow_offsite`` lift an ordinary spider's
        ``allowed_domains``.
        """
        url = canonical(request.url) or request.url
        if url == lease.url:
            return None
        if hasattr(self._crawler.spider, "topic"):
            return self._hosts.refuse(url) or (trap(url, self._traps) if self._traps else None)
        free = request.meta.get("allow_offsite") or is_apart(lease.url)
        return None if free else self._hosts.refuse(url)
