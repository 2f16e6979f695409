"""Tests of learning from the frontier of an earlier run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from scrapy.crawler import Crawler
from scrapy.settings import Settings

from topiccrawl.frontier.contract import Ending, Outcome, Seed
from topiccrawl.frontier.embedded import EmbeddedFrontier
from topiccrawl.links.strategies.shark_plus import SharkPlus
from topiccrawl.model import Offer
from topiccrawl.scheduler.frontiers import open_frontier
from topiccrawl.spiders.topic import TopicSpider

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from topiccrawl.frontier.contract import Frontier

FETCHED = Outcome(Ending.CRAWLED, relevance=0.3)
LINKS = 30


def _crawler(folder: Path) -> Crawler:
    settings = Settings()
    settings.setmodule("topiccrawl.settings")
    settings.setdict(
        {
            "TOPICCRAWL_DATA_DIR": str(folder),
            "DOWNLOAD_DELAY": 0,
            "AUTOTHROTTLE_ENABLED": False,
            "ROBOTSTXT_OBEY": False,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 2 * LINKS,
        }
    )
    created = Crawler(TopicSpider, settings)
    created.spider = TopicSpider.from_crawler(created, topic="足球")
    return created


def _crawl(frontier: Frontier, relevances: Iterable[float]) -> None:
    """Fetch a page, and then the pages that it links to, last one first, with these relevances."""
    frontier.push([Seed("http://a.cn/")])
    (seed,) = frontier.pop(1)
    evidence = (1.0, 0.5, 0.5, 0.0, 0.0, 0.0)
    offers = [Offer(f"http://a.cn/{n}", 0, evidence, "守门员扑救") for n in range(LINKS)]
    frontier.finish(seed, FETCHED, offers)
    for lease, relevance in zip(reversed(frontier.pop(LINKS)), relevances, strict=True):
        frontier.finish(lease, Outcome(Ending.CRAWLED, relevance=relevance))
    frontier.close()


def test_link_words_are_learned_from_a_resumed_frontier(tmp_path: Path) -> None:
    first = _crawler(tmp_path)
    frontier = open_frontier(first)
    assert isinstance(first.spider, TopicSpider)
    initial_version = first.spider.strategy.version
    _crawl(frontier, LINKS * [0.3])

    second = _crawler(tmp_path)
    frontier = open_frontier(second)
    assert isinstance(second.spider, TopicSpider)
    assert second.spider.strategy.version != initial_version
    frontier.close()


def test_pages_are_learned_in_the_order_of_the_crawl(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    relevances = [number / 64 for number in range(LINKS)]
    _crawl(open_frontier(_crawler(tmp_path)), relevances)
    learned: list[float] = []
    monkeypatch.setattr(SharkPlus, "reached", lambda *values: learned.append(values[-1]))
    open_frontier(_crawler(tmp_path)).close()
    assert learned == [pytest.approx(FETCHED.relevance), *relevances]


def test_rows_after_the_last_crawled_page_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    iterate = EmbeddedFrontier.iterate

    def only_crawled(frontier: EmbeddedFrontier, queue: str) -> Iterator[tuple[str, float, str]]:
        yield from iterate(frontier, queue)
        pytest.fail("all rows were read")

    monkeypatch.setattr(EmbeddedFrontier, "iterate", only_crawled)
    for _ in range(2):
        settings = Settings({"TOPICCRAWL_DATA_DIR": str(tmp_path), "ROBOTSTXT_OBEY": False})
        settings.setmodule("topiccrawl.settings")
        crawler = Crawler(TopicSpider, settings)
        crawler.spider = TopicSpider.from_crawler(crawler, topic="足球")
        frontier = open_frontier(crawler)
        frontier.push([Seed("http://a.cn/"), Seed("http://b.cn/")])
        for lease in frontier.pop(1):
            frontier.finish(lease, FETCHED)
        frontier.close()
