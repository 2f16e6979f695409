"""Feeds and news sitemaps that a watch discovers: they are hubs, too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.frontier.contract import Kind, Seed
from topiccrawl.links.feeds import may_name_news
from topiccrawl.links.sitemaps import read_sitemap

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy import Request
    from scrapy.http import Response

    from topiccrawl.scheduler.context import CrawlContext

FEED_VALUE = 0.9
"""Score of a feed that a page on topic, or a seed, names."""

OK = 200


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
            self.offer(filter(may_name_news, read_sitemap(response.body).sitemaps), 1)
