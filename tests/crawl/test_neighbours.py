"""Crawls of one data folder share the clock of each host."""

from __future__ import annotations

from contextlib import ExitStack
from itertools import pairwise
from threading import Barrier
from typing import TYPE_CHECKING

import pytest

from tests.crawl.run import exit_status, log_of, running
from tests.crawl.web import Answer, Page, Web, article
from tests.waiting import PATIENCE

if TYPE_CHECKING:
    from http.server import BaseHTTPRequestHandler
    from pathlib import Path

pytestmark = [pytest.mark.crawl, pytest.mark.slow]

SITE = "http://news.test"
TEXT = "新能源汽车的动力电池今天有了新进展，充电桩建设加快，电动汽车销量继续增长。"
DELAY = 0.3
MIN_GAP = 0.8 * DELAY
"""Minimum seconds between two arrivals, with a tolerance for the transmission."""
PAGES = 12
SLOW = {
    "DOWNLOAD_DELAY": str(DELAY),
    "DOWNLOAD_DELAY_JITTER": "0",
    "CONCURRENT_REQUESTS_PER_DOMAIN": "1",
    "TOPICCRAWL_ADAPTATION": "off",
}


TOPICS = {"a": "新能源汽车", "b": "动力电池"}


def arguments(name: str) -> tuple[str, ...]:
    return ("crawl", "topic", "-a", f"topic={TOPICS[name]}", "-a", f"seeds={SITE}/{name}/0")


def page(name: str, number: int) -> str:
    links = [f"{SITE}/{name}/{after}" for after in range(1, PAGES)] if not number else []
    return article(f"{TOPICS[name]}{number}", f"{TEXT}{name}{number}。", *links)


def test_two_crawls_of_one_folder_share_the_clock_of_a_host(
    tmp_path: Path, no_coverage: None
) -> None:
    both = Barrier(len(TOPICS), timeout=PATIENCE)

    def robots(_: BaseHTTPRequestHandler) -> Answer:
        both.wait()  # neither begins before the other
        return Answer("", 404)

    pages: dict[str, Page] = {
        f"{SITE}/{name}/{n}": page(name, n) for name in TOPICS for n in range(PAGES)
    }
    with Web({**pages, f"{SITE}/robots.txt": robots}) as web, ExitStack() as crawls:
        started = [
            crawls.enter_context(running(web.proxy, tmp_path / "data", *arguments(name), **SLOW))
            for name in TOPICS
        ]
        assert [exit_status(one, tmp_path / "data") for one in started] == [0, 0], log_of(
            tmp_path / "data"
        ).read_text(encoding="utf-8")[-3000:]
    hits = sorted(hit for hit in web.hits if "robots" not in hit.url)
    assert sorted(hit.url for hit in hits) == sorted(pages)
    gaps = [later.at - sooner.at for sooner, later in pairwise(hits)]
    assert min(gaps) >= MIN_GAP, sorted(gaps)
    kinds = [hit.url.split("/")[3] for hit in hits]
    for name in TOPICS:
        assert kinds[:PAGES].count(name) >= PAGES // 4, f"one crawl waits for the other: {kinds}"
