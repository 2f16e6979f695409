"""Tests of `scrapy control`: pause, resume, speed, add and cancel in a running crawl."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from scrapy.settings import Settings

from tests.crawl.run import exit_status, log_of, run, running
from tests.crawl.web import Page, Web, article
from tests.waiting import until
from topiccrawl.commands.control import ControlCommand, order_line
from topiccrawl.extensions.control import PAUSED
from topiccrawl.topics.topic import resolve

if TYPE_CHECKING:
    from pathlib import Path

NEWS = "新能源汽车销量增长，电动汽车与动力电池企业加快布局，充电桩建设提速。"
NUMBERS = range(400)
PAGES: dict[str, Page] = {
    "http://a.test/": article("新能源汽车", NEWS, *(f"http://a.test/{i}" for i in NUMBERS)),
    **{f"http://a.test/{i}": article(f"电动汽车{i}", NEWS) for i in NUMBERS},
}
SLOW = {
    "DOWNLOAD_DELAY": "0.2",
    "CONCURRENT_REQUESTS_PER_DOMAIN": "1",
    "DOWNLOAD_DELAY_JITTER": "0",
}


def steer(data: Path, *words: str, **place: str) -> str:
    """Send an order by the command, which takes a second to start, or in this process."""
    if not place and words[0] in {"pause", "cancel"}:
        status, out = run("", data, "control", *words, "--topic", "新能源汽车")
        assert status == 0, out
        return out
    command = ControlCommand()
    command.settings = Settings({"TOPICCRAWL_DATA_DIR": str(data), **place})
    command.settings.setmodule("topiccrawl.settings", priority="default")
    name = resolve("新能源汽车").slug
    return order_line("", asyncio.run(command.steer(words[0], name, *words[1:])))


def short_gaps(web: Web, since: int = 0) -> list[float]:
    """Return the gaps far below the delay between requests, from a request on."""
    gaps = (other.at - one.at for one, other in pairwise(sorted(web.hits[since:])))
    return [gap for gap in gaps if gap < float(SLOW["DOWNLOAD_DELAY"]) / 2]


@pytest.mark.crawl
@pytest.mark.parametrize("where", ["folder", "redis"])
def test_pause_stops_fetching_in_two_seconds_resume_continues(
    where: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    data = tmp_path / "data"
    place = {"REDIS_URL": request.getfixturevalue("redis_url")} if where == "redis" else {}

    def control(*words: str) -> str:
        return steer(data, *words, **place)

    with Web(PAGES) as web:
        arguments = ("-a", "topic=新能源汽车", "-a", "seeds=http://a.test/")
        with running(web.proxy, data, "crawl", "topic", *arguments, **SLOW, **place) as crawl:
            until(lambda: len(web.hits) > 5)
            assert "paused, speed 1" in control("pause")
            paused = len(web.hits)
            until(lambda: f"Crawl {PAUSED}" in log_of(data).read_text())
            web.quiet(2.0)
            # requests are counted, since a busy machine also delays the pause
            assert len(web.hits) - paused <= 2 / float(SLOW["DOWNLOAD_DELAY"])
            before = len(web.hits)
            assert before < len(PAGES), "not all pages were fetched before the pause"
            assert "speed 10" in control("speed", "10")
            assert len(web.hits) == before
            assert "not paused" in control("resume")
            until(lambda: len(short_gaps(web, before)) > 20)
            assert len(short_gaps(web)) - len(short_gaps(web, before)) < 5
            control("cancel")
            assert exit_status(crawl, data) == 0
    log = log_of(data).read_text()
    assert "Spider closed (cancelled)" in log
    assert "cancelled; no data is lost" in log


@pytest.mark.crawl
@pytest.mark.parametrize("where", ["folder", "redis"])
@pytest.mark.slow
def test_running_crawl_adds_start_urls_but_not_private_ones(
    where: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    data = tmp_path / "data"
    place = {"REDIS_URL": request.getfixturevalue("redis_url")} if where == "redis" else {}
    pages = {**PAGES, "http://b.test/1": article("电动汽车", NEWS), "http://10.0.0.1/": "x"}
    with Web(pages) as web:
        arguments = ("-a", "topic=新能源汽车", "-a", "seeds=http://a.test/")
        with running(web.proxy, data, "crawl", "topic", *arguments, **SLOW, **place) as crawl:
            until(lambda: len(web.hits) > 3)
            out = steer(data, "add", "http://10.0.0.1/", "http://b.test/1", **place)
            assert "2 start URLs pending" in out
            until(lambda: web.count("http://b.test/1") == 1)
            assert len(web.hits) < len(PAGES), "the added URL is fetched before the queued ones"
            until(lambda: "start URLs" not in steer(data, "show", **place))
            steer(data, "cancel", **place)
            assert exit_status(crawl, data) == 0
    assert web.count("http://10.0.0.1/") == 0
    assert "10.0.0.1/ is not accepted as a start URL: private-address" in log_of(data).read_text()
