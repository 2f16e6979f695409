"""Large pages leave turns of the event loop to other work."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from scrapy import Request
from scrapy.http import Response

from tests.crawl.run import log_of, run, stored
from tests.crawl.test_endings import TEXT, why
from tests.crawl.web import Answer, Page, Web, article
from topiccrawl.discovery.listings import Feed
from topiccrawl.middlewares.lease import MANY_LINKS
from topiccrawl.spiders.discovering import Discovery

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.crawl

SITE = "http://news.test"


@pytest.mark.parametrize(("links", "unrecorded"), [(MANY_LINKS, False), (MANY_LINKS + 1, True)])
def test_other_work_is_done_before_many_links_are_recorded(
    tmp_path: Path, links: int, *, unrecorded: bool
) -> None:
    data, front = tmp_path / "data", f"{SITE}/"
    urls = [f"{SITE}/{n}.html" for n in range(links)]
    with Web({front: article("目录", "", *urls)}) as web:
        options = ("-a", "topic=新能源汽车", "-a", f"seeds={front}")
        _, output = run(web.proxy, data, "crawl", "turns", *options, TOPICCRAWL_HOST_PAGES="1")
    assert why(data, front).queue == "crawled", output
    assert why(data, urls[-1]).queue == "error"  # recorded, beyond TOPICCRAWL_HOST_PAGES
    assert ("'trial/unrecorded': 1" in output) is unrecorded


def test_pages_of_providers_that_are_no_longer_named_are_left_to_the_callback() -> None:
    search = Discovery([Feed(f"{SITE}/rss.xml")], ["x"], 1)
    request = Request(f"{SITE}/b.xml", cb_kwargs={"asked": [1, 0, 0]})
    asyncio.run(search.prepare(request, Response(request.url)))


@pytest.mark.parametrize("path", ["/rss.xml", "/boom.xml"])
def test_pages_of_seed_providers_are_parsed_in_a_thread(tmp_path: Path, path: str) -> None:
    data, story, feed = tmp_path / "data", f"{SITE}/a.html", SITE + path
    items = f"<rss><channel><item><title>a</title><link>{story}</link></item></channel></rss>"
    header = (("Content-Type", "application/rss+xml"),)
    pages: dict[str, Page] = {
        feed: Answer(items, headers=header),
        story: article("新能源汽车要闻", TEXT),
    }
    spec = f"discover=tests.crawl.trials.LoggingFeed:{feed}"
    with Web(pages) as web:
        run(web.proxy, data, "crawl", "topic", "-a", "topic=新能源汽车", "-a", spec)
    failed = "boom" in path
    log = log_of(data).read_text()
    assert log.count("parsed in discovery_0") == 1
    assert log.count("parsed in MainThread") == failed
    assert ("callback-ZeroDivisionError" in log) is failed
    assert bool(stored(data)) is not failed
