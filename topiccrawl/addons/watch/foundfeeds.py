"""Feeds and news sitemaps that a watch discovers: they are hubs, too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.frontier.contract import Seed
from topiccrawl.links.feeds import may_name_news
from topiccrawl.links.sitemaps import read_sitemap
from topiccrawl.scheduler import meta
from topiccrawl.scheduler.scheduler import FrontierScheduler

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

FEED_VALUE = 0.9
"""Score of a feed that a page on topic, or a seed, names."""

OK = 200


class FoundFeeds:
    """Queues discovered feeds.

    Args:
        crawler: Crawler of the frontier that takes them.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    def offer(self, urls: Iterable[str], depth: int) -> None:
        """Queue discovered feeds as seeds; the trap rules would refuse their names."""
        scheduler = self.crawler.engine.scheduler
        if not isinstance(scheduler, FrontierScheduler):
            return
        hosts = scheduler.hosts
        seeds = [Seed(url, FEED_VALUE, depth=depth) for url in urls if not hosts.refuse(url)]
        if seeds:
            with scheduler.book.writing() as frontier:
                new = frontier.push(seeds)
            self.crawler.stats.inc_value("topiccrawl/revisits/feeds", new)

    def answered(self, response: Response, request: Request) -> None:
        """Look for news sitemaps, and indexes of sitemaps, in a robots.txt."""
        ticket = meta.read(request)
        if ticket is not None and ticket.robots and response.status == OK:
            self.offer(filter(may_name_news, read_sitemap(response.body).sitemaps), 1)
