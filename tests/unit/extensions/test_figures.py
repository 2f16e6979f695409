"""Tests of the figures of a crawl and of the contributions of add-ons."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Spider
from scrapy.exceptions import NotConfigured
from scrapy.utils.test import get_crawler

from topiccrawl.addons.redis.partitions import View
from topiccrawl.extensions.figures import CrawlFigures
from topiccrawl.extensions.wait_reason import QUIET
from topiccrawl.frontier.contract import Ending, Limits, Outcome, Politeness, Seed
from topiccrawl.frontier.embedded import EmbeddedFrontier
from topiccrawl.links.strategies import FirstCome
from topiccrawl.model import LINKS, Article
from topiccrawl.scheduler.context import context_of
from topiccrawl.scheduler.leases import LeaseBook, Retry
from topiccrawl.scheduler.signals import lease_settled, page_counted
from topiccrawl.settings import SCHEDULER

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

URL = "http://a.test/"


def with_figures(folder: Path, act: Callable[[CrawlFigures], object], **settings: str) -> None:
    """Call ``act`` with the figures of a plain spider's crawl that has one queued page."""

    async def crawl() -> None:  # Scrapy's timers need a running loop
        given = {"SCHEDULER": SCHEDULER, "TOPICCRAWL_DATA_DIR": str(folder), **settings}
        crawler: Any = get_crawler(Spider, settings_dict=given)
        crawler.spider = Spider("plain")
        figures = CrawlFigures.from_crawler(crawler)
        context = context_of(crawler)
        context.frontier = EmbeddedFrontier(folder, FirstCome(), Politeness(robots=False), Limits())
        context.frontier.push([Seed(URL)])
        context.book = LeaseBook(context.frontier, Retry(), lambda: 0.0)
        context.opened = True
        act(figures)
        context.frontier.close()

    asyncio.run(crawl())


def test_contributed_fields_are_added_to_their_section(tmp_path: Path) -> None:
    def act(figures: CrawlFigures) -> None:
        status = figures.context.status
        before = figures.state()
        assert before["terms"] == {"changes": 0, "own": [], "now": []}
        status["store"] = lambda: {"totals": {"spooled": 3}, "circumstances": {"store_away": True}}
        status["records"] = lambda: {"totals": {"articles": 2}}
        status["topic"] = lambda: {"terms": {"changes": 1, "own": ["a"], "now": [["a", 1.0]]}}
        state = figures.state()
        assert state["totals"] == {**before["totals"], "spooled": 3, "articles": 2}
        assert state["terms"]["own"] == ["a"]
        assert state["waiting"]["reason"] == "store-away"
        assert set(state) == set(before)

    with_figures(tmp_path, act)


def test_empty_queue_waits_for_watched_hubs(tmp_path: Path) -> None:
    def act(figures: CrawlFigures) -> None:
        figures._last_page -= 2 * QUIET
        lease = figures.context.frontier.pop()[0]
        figures.context.frontier.finish(lease, Outcome(Ending.CRAWLED))
        assert figures.waiting().reason == "empty"
        figures.context.status["watch"] = lambda: {"circumstances": {"watching": "1 hubs"}}
        assert figures.waiting()[::2] == ("watching", "1 hubs")

    with_figures(tmp_path, act)


def test_answer_304_ends_a_wait_and_repeated_waits_are_logged_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")

    def act(figures: CrawlFigures) -> None:
        spider: Any = figures.crawler.spider
        spider.spec = replace(figures.context.spec, judges=bool)
        figures.context.status["watch"] = lambda: {"circumstances": {"watching": "1 hubs"}}
        lease = figures.context.frontier.pop()[0]
        figures.context.frontier.finish(lease, Outcome(Ending.CRAWLED))
        for _ in range(3):
            figures._last_page -= 2 * QUIET
            figures.tick()
            assert figures.waiting().reason == "watching"
            figures.settled(lease, Outcome(Ending.CRAWLED))
            figures.tick()
            assert figures.waiting().reason == ""
        assert figures.history.pages == 0
        assert caplog.text.count("Crawl waiting") == 1

    with_figures(tmp_path, act)


def test_empty_node_waits_for_urls_on_other_nodes(tmp_path: Path) -> None:
    def act(figures: CrawlFigures) -> None:
        figures._last_page -= 2 * QUIET
        assert figures.waiting().reason != "elsewhere"
        view = View((1, 2), {}, {}, {}, {1: (0, 0, 0, 0), 2: (1, 0, 0, 0)}, {}, frozenset())
        frontier: Any = figures.context.frontier
        frontier.membership = SimpleNamespace(view=view, epoch=1)
        assert figures.waiting().reason == "elsewhere"

    with_figures(tmp_path, act)


def test_pages_are_counted_by_report_or_by_outcome(tmp_path: Path) -> None:
    def act(figures: CrawlFigures) -> None:
        send = figures.crawler.signals.send_catch_log
        lease = figures.context.frontier.pop()[0]
        send(lease_settled, lease=lease, outcome=Outcome(Ending.CRAWLED))
        assert (figures.history.pages, figures.history.relevant) == (1, 0)
        send(page_counted, relevant=True, articles=4)
        counted = figures.history
        assert (counted.pages, counted.relevant, counted.articles) == (2, 1, 4)

    with_figures(tmp_path, act)


def test_a_crawl_on_another_scheduler_has_no_figures(tmp_path: Path) -> None:
    with pytest.raises(NotConfigured):
        with_figures(tmp_path, lambda _: None, SCHEDULER="scrapy.core.scheduler.Scheduler")


def test_latest_articles_have_terms_without_the_link_score(tmp_path: Path) -> None:
    def act(figures: CrawlFigures) -> None:
        terms = (("球队", 0.3), (LINKS, 0.7))
        figures.stored(Article(URL, "题", "文", terms=terms))
        assert figures.latest[0]["terms"] == [["球队", 0.3]]

    with_figures(tmp_path, act)
