"""Retries of seeds and seed searches that failed in earlier runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from scrapy import signals

from topiccrawl.scheduler.context import CrawlContext, context_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from topiccrawl.frontier.contract import Frontier

CRASH = "crash"
"""Error reason of a page that crashed the process repeatedly; such pages are not retried."""


class StartRetry:
    """Retry failed seeds, or a failed search for seeds, at the start of a run.

    Args:
        context: The crawl.
    """

    def __init__(self, context: CrawlContext) -> None:
        self.context = context

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension."""
        retry = cls(context_of(crawler))
        crawler.signals.connect(retry.opened, signals.spider_opened)
        return retry

    def opened(self) -> None:
        """Requeue the failed URLs of earlier runs if those runs fetched no page."""
        context = self.context
        if not context.opened:
            return
        with context.book.writing() as frontier:
            if not context.spec.conducted:
                self._requeue_failed(frontier)
            if context.search is not None and context.search.is_fruitless(context):
                for url in context.search.retry_urls():
                    frontier.requeue(url)

    @staticmethod
    def _requeue_failed(frontier: Frontier) -> None:
        counts = frontier.counts()
        if counts["error"] and counts["crawled"] == counts.get("redirected", 0):
            failed = [url for url, _, reason in frontier.iterate("error") if reason != CRASH]
            for url in failed:
                frontier.requeue(url)
