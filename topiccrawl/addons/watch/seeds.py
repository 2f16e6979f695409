"""Beginnings of a watch: its seeds until each was fetched, feeds found, unwatched crawls."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from topiccrawl.addons.watch.ledger import Ledger, Seen
from topiccrawl.frontier.contract import Ending, Frontier, Outcome, Seed
from topiccrawl.links.feeds import may_be_news_sitemap
from topiccrawl.links.sitemaps import read_sitemap
from topiccrawl.model import Kind, Lease
from topiccrawl.storage.factory import opened, storage_of
from topiccrawl.storage.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scrapy import Request
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

    from topiccrawl.scheduler.context import CrawlContext
    from topiccrawl.storage.contract import ArticleStore
    from topiccrawl.storage.pages import Pages, PageState

ON_THEIR_WAY = frozenset({"prior", "normal", "leased"})
"""Queues of URLs that will yet be fetched."""

FEED_VALUE = 0.9
"""Score of a feed that a page on topic, or a seed, names."""

OK = 200

GROUP = 500
"""States written in one transaction."""


class Beginnings:
    """Finds seeds that failed, also without a request (robots.txt that cannot be fetched).

    Args:
        seeds: Canonical URLs that were never fetched.
        failed: Called once with each failed seed and the frontier's reason; from then on the seed
            has a state, which sets its next visit.
    """

    def __init__(self, seeds: Iterable[str], failed: Callable[[str, str], None]) -> None:
        self._left = set(seeds)
        self._all = set(self._left)
        self._failed = failed

    def __contains__(self, url: object) -> bool:
        return url in self._all

    def look(self, frontier: Frontier) -> None:
        """Report the seeds that failed since the last look."""
        for url in tuple(self._left):
            known = frontier.why(url)
            if known is None or known.queue in ON_THEIR_WAY:
                continue
            self._left.discard(url)
            if known.queue == "error":
                self._failed(url, known.reason)

    def settled(self, lease: Lease, outcome: Outcome) -> None:
        """Replace a redirected seed by its target."""
        if outcome.ending is Ending.REDIRECTED and lease.url in self._left:
            self._left.discard(lease.url)
            self._left.add(outcome.target)
            self._all.add(outcome.target)


class FoundFeeds:
    """Queues discovered feeds.

    Args:
        context: The crawl, whose frontier takes them.
    """

    def __init__(self, context: CrawlContext) -> None:
        self.context = context

    def offer(self, urls: Iterable[str], depth: int) -> None:
        """Queue discovered feeds as seeds; the trap rules would refuse their names."""
        hosts = self.context.hosts
        seeds = [Seed(url, FEED_VALUE, depth=depth) for url in urls if not hosts.refuse(url)]
        if seeds:
            with self.context.book.writing() as frontier:
                new = frontier.push(seeds)
            self.context.crawler.stats.inc_value("topiccrawl/revisits/feeds", new)

    def answered(self, response: Response, request: Request) -> None:
        """Look for news sitemaps, and indexes of sitemaps, in a robots.txt."""
        lease = self.context.lease(request)
        if lease is not None and lease.kind is Kind.ROBOTS and response.status == OK:
            self.offer(filter(may_be_news_sitemap, read_sitemap(response.body).sitemaps), 1)


async def take_over(
    settings: BaseSettings, frontier: Frontier, ledger: Ledger, pages: Pages
) -> None:
    """Run ``adopt`` with the store that the settings name."""
    async with opened(storage_of(settings).articles()) as store:
        await adopt(frontier, store, ledger, pages, time.time())


async def adopt(
    frontier: Frontier, store: ArticleStore, ledger: Ledger, pages: Pages, now: float
) -> None:
    """Give the owner's stored articles a state; their texts are compared from the next visit on.

    Existing states are kept. Hubs are written last: a run that finds no hub adopts again, so a
    kill is harmless.

    Args:
        frontier: Records where articles were found; articles missing there are left out.
        store: Store of the articles.
        ledger: Of the owner.
        pages: Store of the states; open.
        now: Seconds since the epoch.

    Raises:
        StorageError: Something could not be read or written.
    """
    hubs: dict[str, PageState] = {}
    group: list[PageState] = []
    async for article in store.select(Selection(ledger.owner)):
        known = frontier.why(article.url)
        state = ledger.first(article.url, Seen(article.fetched_at, digest="unknown"))
        if known is None or state is None:
            continue
        group.append(replace(state, digest=""))
        hub = known.path[-2] if len(known.path) > 1 else ""
        first = ledger.first(hub, Seen(now, hub=True)) if hub and hub not in hubs else None
        if first is not None:
            hubs[hub] = first
        if len(group) >= GROUP:
            await _save(pages, ledger.owner, group)
            group = []
    await _save(pages, ledger.owner, [*group, *hubs.values()])


async def _save(pages: Pages, owner: str, states: list[PageState]) -> None:
    known = await pages.get(owner, [state.url for state in states])
    await pages.save([state for state in states if state.url not in known])
