"""Tests of all pages of `scrapy dashboard` with axe in Chromium, from phone to wide screen."""

from __future__ import annotations

import asyncio
import json
import os
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from xml.etree import ElementTree as ET

import pytest

from tests.contracts.test_listing import article
from tests.crawl.run import running
from tests.crawl.test_dashboard import (
    LONG,
    accepts_connections,
    browser,
    pytestmark,  # noqa: F401 - marks this file, too
)
from tests.ports import free_port
from tests.unit.addons.dashboard.states import state
from tests.waiting import until
from topiccrawl.addons.tasks.records import Progress, TaskSpec
from topiccrawl.addons.tasks.service import TaskService
from topiccrawl.addons.tasks.session import WorkerSession
from topiccrawl.addons.warc.archive import Archive, Exchange
from topiccrawl.model import Mark
from topiccrawl.storage.crawls import CrawlLog
from topiccrawl.storage.ledger import LocalLedger
from topiccrawl.storage.runs import FOLDER, LocalRuns
from topiccrawl.storage.sites import MarkStore
from topiccrawl.storage.sqlite import SqliteStorage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from topiccrawl.storage.ledger import Ledger
    from topiccrawl.storage.runs import State

WIDTHS = (360, 390, 1280, 2560)
TOPIC = "新能源汽车"
NOW = time.time()
BODY = "电动汽车销量增长，动力电池企业加快布局。\n充电桩建设提速，续航更长。"
REVIEW = {
    "threshold": 0.05, "best": [[0.04, "http://a.test/1", "红烧肉的做法"]], "met": {"汽车": 2},
    "never": ["充电桩"], "hosts": {"cannot-resolve-host": ["nowhere.test"]},
    "seeds": [{"url": "http://a.test/", "queue": "error", "reason": "http-403", "relevance": None}],
}  # fmt: skip


def states() -> dict[str, State]:
    """Return four crawls: running, without results, failed and killed."""
    runs = {
        "runs": state(frontier="f1", began=NOW),
        "fruitless": state(frontier="f2", began=NOW - 300, finished=NOW - 200, reason="finished"),
        "failed": state(
            frontier="f3", began=NOW - 500, finished=NOW - 490, reason="seeds_unreachable"
        ),
        "killed": state(frontier="f4", began=NOW - 900),
    }
    runs["runs"]["control"] = {"name": "crawl", "paused": False, "speed": 1.0}
    runs["fruitless"]["totals"] |= {"relevant": 0, "articles": 0}
    runs["fruitless"]["review"] = REVIEW
    for one in runs.values():
        one["queues"] = {
            "prior": 1000, "normal": 100, "leased": 1, "crawled": 10, "error": 5, "known": 1116,
        }  # fmt: skip
    return runs


async def fill(data: Path) -> None:
    storage, runs = SqliteStorage(data), LocalRuns(data)
    store = storage.articles()
    await store.open()
    for number in range(60):
        story = article(number, "a.test" if number % 2 else "b.test", TOPIC)
        first = f"http://{story.site}/{number % 10}"  # ten events, each on one of the sites
        await store.save([replace(story, event=first, published=f"2026-09-{number % 30 + 1:02}")])
    await store.close()
    archive = Archive(data / "warc")
    archive.open()
    html = (("Content-Type", "text/html; charset=utf-8"),)
    body = "<title>存档</title><script>document.title = 'ran'</script><p>存档的网页</p>".encode()
    for name in ("7", "59"):
        archive.write(Exchange(f"http://a.test/{name}", NOW, "GET", (), 200, html, body))
    archive.close()
    await tasks(LocalLedger(data))
    for name, one in states().items():
        await runs.put(one)
        at = NOW + 1e6 if name == "runs" else NOW - 60  # as if its process still wrote
        os.utime(data / FOLDER / f"{one['run']['id']}.json", (at, at))
    CrawlLog(data).begin(TOPIC, "f1", NOW)
    async with MarkStore.opened({"TOPICCRAWL_DATA_DIR": str(data)}, TOPIC) as marks:
        sample = [Mark(f"http://c.test/{n}", f"电动汽车{n}", BODY) for n in range(5)]
        await marks.put_pages(5, sample)


async def tasks(ledger: Ledger) -> None:
    """Create two tasks: one whose site has no https, one that is assigned to a worker."""
    service, session = TaskService(ledger), WorkerSession(ledger, 2, ttl=1e6)
    for name in ("c.test", f"{'long-' * 11}name.test"):
        await service.create(TaskSpec("topic", {"topic": TOPIC}, (name,)))
    assert await session.heartbeat({}) is not None
    found = await session.claim()
    assert found is not None
    tried = {"https://c.test/": "download-connection-refused", "http://c.test/": ""}
    await session.heartbeat({found[0].name: Progress(5, 3, 2, 0.0, tried)})
    await service.assign("2", f"{'long-' * 11}name.test", session.name)


async def marks(data: Path) -> dict[str, bool | None]:
    async with MarkStore.opened({"TOPICCRAWL_DATA_DIR": str(data)}, TOPIC) as store:
        return {one.url: one.wanted for one in await store.marks()}


OPEN = {"TOPICCRAWL_DASHBOARD_TOKEN": "off"}
FACETS = "Array.from(document.querySelectorAll('.facets [role=group]')).map(one => one.innerText)"


@contextmanager
def dashboard(data: Path) -> Iterator[str]:
    port = free_port()
    with running("", data, "dashboard", str(port), WARC_DIR=str(data / "warc"), **OPEN):
        url = f"http://127.0.0.1:{port}/"
        until(lambda: accepts_connections(url))
        yield url


@contextmanager
def sixty_articles(data: Path) -> Iterator[tuple[str, Any]]:
    """Yield a dashboard's URL and its page of articles in a browser."""
    asyncio.run(fill(data))
    with dashboard(data) as url, browser() as chromium:
        page = chromium.new_page(locale="en-GB")
        page.goto(f"{url}articles?topic={TOPIC}")
        page.locator("#rows .found").first.wait_for(timeout=LONG)
        yield url, page


def fetched(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=60) as answer:  # noqa: S310 - our own server
        body: bytes = answer.read()
        return body


def check(page: Any, where: str) -> None:
    """Fail if a page is too wide for its screen, hard to touch, or not accessible."""
    from axe_playwright_python.sync_playwright import Axe  # noqa: PLC0415 - an extra

    wide, shown = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert wide <= shown, f"{where}: {wide}"
    small = page.evaluate(
        "[...document.querySelectorAll('a, button, select, input')].filter(one => {"
        "const box = one.getBoundingClientRect(); return box.width && box.height < 24; })"
        ".map(one => `${one.tagName} ${one.className} ${one.textContent}`)"
    )
    assert small == [], f"{where}: {small}"
    options = {"resultTypes": ["violations"], "rules": {"target-size": {"enabled": True}}}
    found = Axe().run(page, options=options)
    violations = [
        f"{one['id']}: {node['html'][:200]} {node['failureSummary'][:300]}"
        for one in found.response["violations"]
        for node in one["nodes"][:3]
    ]
    assert violations == [], f"{where}: {violations}"


def test_every_page_fits_every_screen_and_is_accessible(tmp_path: Path) -> None:
    asyncio.run(fill(tmp_path / "data"))
    ready = {
        "": "#task-rows .tried",
        "crawl?crawl=f1": "[data-act=pause]",
        "crawl?crawl=f2": "#why-rows li",
        f"articles?topic={TOPIC}": "#doubtful-rows .found",
    }
    problems: list[str] = []
    with dashboard(tmp_path / "data") as url, browser() as chromium:
        for width in WIDTHS:
            for scheme in ("light", "dark") if width in {390, 1280} else ("light",):
                page = chromium.new_page(
                    locale="zh-CN" if width < 1000 else "en-GB", color_scheme=scheme,
                    viewport={"width": width, "height": 900}, reduced_motion="reduce",
                )  # fmt: skip
                page.on("pageerror", lambda error: problems.append(str(error)))
                for place, element in ready.items():
                    page.goto(url + place)
                    page.locator(element).first.wait_for(timeout=LONG)
                    if place.startswith("articles"):
                        page.locator("#rows .open").first.click()
                        page.locator("#copies a").wait_for(timeout=LONG)
                    check(page, f"{place} at {width} px, {scheme}")
                page.close()
    assert problems == []


def test_start_page_shows_crawl_states_and_an_empty_folder(tmp_path: Path) -> None:
    asyncio.run(fill(tmp_path / "data"))
    with browser() as chromium:
        page = chromium.new_page(locale="en-GB")
        with dashboard(tmp_path / "data") as url:
            page.goto(url)
            page.locator("#crawl-rows tr").nth(3).wait_for(timeout=LONG)
            rows = page.locator("#crawl-rows tr").all_inner_texts()
            assert ["crawling" in rows[0], "no URLs left" in rows[1]] == [True, True]
            assert "failed" in rows[2]
            assert "no page could be fetched" in rows[2]
            assert "not responding" in rows[3]
            page.locator("#crawl-rows a").nth(1).click()
            page.locator("#why-rows li").first.wait_for(timeout=LONG)
            assert "nowhere.test" in page.locator("#why-rows").inner_text()
            assert "充电桩" in page.locator("#why-rows").inner_text()
            widths = page.evaluate(
                "[...document.querySelectorAll('.queue .bar i')].map(one => one.style.width)"
            )
            assert widths == ["100%", "10%", "1%", "1%", "1%"], "bars are linear"
        with dashboard(tmp_path / "empty") as url:
            page.goto(url)
            page.locator("#notice").wait_for(timeout=LONG)
            assert "No crawl has been run" in page.locator("#notice").inner_text()
            page.goto(f"{url}crawl")
            page.locator("#notice").wait_for(timeout=LONG)
            assert page.locator("#topic").inner_text() == "No crawl yet"
            assert "1970" not in page.locator("body").inner_text()
            assert "since" not in page.locator("#tiles").inner_text()


def test_articles_are_searched_read_and_marked(tmp_path: Path) -> None:
    with sixty_articles(tmp_path) as (url, page):
        assert page.locator("#stored").inner_text() == "60 articles found"
        page.get_by_role("button", name="a.test").click()
        page.locator("#stored", has_text="30 articles").wait_for(timeout=LONG)
        page.locator("#q").fill("题7")
        page.locator("#form button").click()
        page.locator("#stored", has_text="1 articles").wait_for(timeout=LONG)
        assert page.locator("#rows mark").first.inner_text() == "题7"
        page.locator("#rows .open").click()
        page.locator("#reading .text p").first.wait_for(timeout=LONG)
        assert "null" not in page.locator("#reading").inner_text(), "it has no reprints"
        page.locator("#reading [data-mark=yes]").click()
        page.locator("#reading [data-mark=yes][aria-pressed=true]").wait_for(timeout=LONG)
        page.locator("#reading .aside[role=status]", has_text="Saved").wait_for(timeout=LONG)

        one = json.loads(fetched(f"{url}api/article?url={quote('http://a.test/7')}"))
        assert one["mark"] is True
        page.locator("#doubtful [data-mark=no]").first.click()
        page.locator("#doubtful .aside[role=status]", has_text="Saved").wait_for(timeout=LONG)
    assert sorted(map(bool, asyncio.run(marks(tmp_path)).values())) == [False, True]


def test_facets_count_hidden_values_and_copies_run_no_script(tmp_path: Path) -> None:
    with sixty_articles(tmp_path) as (url, page):
        groups = page.evaluate(FACETS)
        assert "and 18 rarer ones" in groups[2], "of thirty days"
        assert "rarer" not in groups[1] + groups[3]
        page.locator(".facets [role=group]").nth(3).get_by_role("button", name="题9").click()
        page.locator("#stored", has_text="6 articles").wait_for(timeout=LONG)
        page.locator("#rows .open").first.click()
        page.locator("#copies a").wait_for(timeout=LONG)
        with page.context.expect_page() as opened:
            page.locator("#copies a").click()
        copy = opened.value
        copy.locator("p", has_text="存档的网页").wait_for(timeout=LONG)
        assert copy.title() == "存档", "its script did not run"
        page.locator("#reading .facet").click()
        page.locator("#stored", has_text="6 articles").wait_for(timeout=LONG)
        page.goto(url)
        page.locator("#task-rows .tried").wait_for(timeout=LONG)
        text = page.locator("#task-rows").inner_text()
        assert "https://c.test/ download-connection-refused, http://c.test/ fetched" in text


def test_feeds_exports_and_api_description_are_served(tmp_path: Path) -> None:
    data, topic = tmp_path / "data", quote(TOPIC)
    asyncio.run(fill(data))
    with dashboard(data) as url:
        api = json.loads(fetched(f"{url}api/openapi.json"))
        assert api["openapi"].startswith("3.1")
        feed = ET.fromstring(fetched(f"{url}feed/{topic}.atom"))  # noqa: S314 - our own
        assert len(feed.findall("{http://www.w3.org/2005/Atom}entry")) == 50
        items = json.loads(fetched(f"{url}feed/{topic}.json"))["items"]
        assert items[0]["id"] == "http://a.test/59"
        found = json.loads(fetched(f"{url}api/library?topic={topic}&site=b.test&limit=3"))
        assert [one["title"] for one in found["articles"]] == ["题58", "题56", "题54"]
        assert found["facets"]["site"] == [["b.test", 30]]
        assert found["values"] == {"site": 1, "day": 15, "topic": 1, "event": 5}
        event = quote("http://a.test/9", safe="")
        found = json.loads(fetched(f"{url}api/library?topic={topic}&event={event}"))
        assert found["total"] == 6
        assert fetched(f"{url}api/export/a.csv?event={event}").count(b"\n") == 7
        assert fetched(f"{url}api/export/a.csv?topic={topic}&q={quote('题7')}").count(b"\n") == 2
        assert fetched(f"{url}api/export/a.xlsx?topic={topic}")[:2] == b"PK"
        for wrong in ("api/library?day=soon", "api/export/a.exe", "api/doubtful?topic=/etc/passwd"):
            with pytest.raises(urllib.error.HTTPError) as refused:
                fetched(url + wrong)
            assert refused.value.code == 400
            assert "error" in json.loads(refused.value.read())
        for path, methods in api["paths"].items():
            if "get" in methods and "{" not in path:
                with (
                    urllib.request.urlopen(  # noqa: S310 - our own server
                        f"{url[:-1]}{path}?url={quote('http://a.test/7')}&topic={topic}", timeout=60
                    ) as answer
                ):
                    assert answer.status == 200
