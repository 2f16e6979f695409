"""Tests of revisits: changes are reported, unchanged pages answer 304."""

from __future__ import annotations

import asyncio
import gzip
import json
import signal
import time
from collections import defaultdict
from contextlib import ExitStack
from operator import itemgetter
from typing import TYPE_CHECKING

import pytest

from lab.demo import generate
from lab.demo.changes import Changes, Changing
from lab.demo.server import DemoServer
from tests.crawl.run import exit_status, log_of, run, running, stored
from tests.crawl.web import Answer, Page, Web, article
from tests.waiting import until
from topiccrawl.storage.pages import Pages
from topiccrawl.storage.sqlite import SqliteStorage, SqliteStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from http.server import BaseHTTPRequestHandler
    from pathlib import Path

    from lab.demo.web import Web as DemoWeb
    from topiccrawl.storage.pages import Change

pytestmark = [pytest.mark.crawl, pytest.mark.slow]

AT_ONCE = (
    *("-s", "TOPICCRAWL_REVISIT_POLICY=uniform"),
    *("-s", "TOPICCRAWL_REVISIT_HUB=0.3"),
    *("-s", "TOPICCRAWL_REVISIT_ARTICLE=0.3"),
    *("-s", "TOPICCRAWL_GONE_SECONDS=0.5"),
)
"""Settings with which pages are due again after a moment."""


@pytest.mark.usefixtures("no_coverage")
def test_second_run_reports_the_changes_of_the_generator(tmp_path: Path) -> None:
    changing = Changing(generate(3, 240, traps=False, faults=False), each=4)
    first, second = changing.editions
    data, log, feed = tmp_path / "data", tmp_path / "log.tsv", tmp_path / "feed.jsonl"
    arguments = ("-a", f"topic={first.topic}", "-a", f"seeds={','.join(first.seeds)}")
    crawl = ("crawl", "topic", *arguments, "-a", "watch=once")
    with DemoServer(first, log=log) as server:
        status, out = run(server.proxy, data, *crawl, *AT_ONCE)
        assert status == 0, out[-3000:]
        began, before = time.time(), log.read_text().count("\n")
        watched = validated(data)
        server.web = second
        again = (*crawl, "-a", "since=last", "-o", str(feed))
        status, out = run(server.proxy, data, *again, *AT_ONCE)
        assert status == 0, out[-3000:]
    assert changes_since(data, first.topic, began) == changing.changes
    assert events(feed) == changing.changes
    assert len(changing.changes.new) == len(changing.changes.changed) == 4
    answers = defaultdict(list)
    for line in log.read_text().splitlines()[before:]:
        _, _, code, _, url = line.split("\t")
        answers[url].append(code)
    same = [url for url in watched if body(first, url) == body(second, url)]
    assert len(same) > 20
    assert {url: answers[url] for url in same} == {url: ["304"] for url in same}
    assert sum(codes.count("200") for codes in answers.values()) < 60  # of 240 pages


class Growing:
    """A hub and a feed that show more articles on demand."""

    hub, feed, page = "http://a.test/", "http://a.test/news.xml", "http://a.test/{}.html"

    def __init__(self) -> None:
        self.shown, self.fed = [1], [5]
        numbers = range(9)
        texts = {n: article(f"足球第{n}轮", f"第{n}轮足球比赛昨晚结束，") for n in numbers}
        self.pages = {self.page.format(n): texts[n] for n in numbers}

    def list(self, handler: BaseHTTPRequestHandler) -> Answer:
        etag = f'"{len(self.shown)}"'
        if handler.headers.get("If-None-Match") == etag:
            return Answer("", 304, (("ETag", etag),))
        items = "".join(
            f'<li><a href="{self.page.format(n)}">足球比赛第{n}轮战报</a></li>' for n in self.shown
        )
        head = f"<title>足球</title><link rel=alternate type=application/rss+xml href={self.feed}>"
        text = f"<html><head>{head}</head><body><ul>{items}</ul></body></html>"
        return Answer(text, headers=(("ETag", etag),))

    def show_feed(self, _: BaseHTTPRequestHandler) -> Answer:
        items = (f"<item><title>足球第{n}轮</title><link>/{n}.html</link></item>" for n in self.fed)
        return Answer(f"<rss><channel><title>足球</title>{''.join(items)}</channel></rss>")


@pytest.mark.usefixtures("no_coverage")
def test_watch_continues_after_kill_9_and_ends_on_interrupt(tmp_path: Path) -> None:
    site, data = Growing(), tmp_path / "data"
    crawl = ("crawl", "topic", "-a", "topic=足球", "-a", f"seeds={site.hub}", "-a", "watch=1")
    with ExitStack() as stack:
        web = stack.enter_context(
            Web({site.hub: site.list, site.feed: site.show_feed, **site.pages})
        )
        process = stack.enter_context(running(web.proxy, data, *crawl, *AT_ONCE))
        wait_for(lambda: web.count(site.hub) > 3 and web.count(site.page.format(1)) > 0, data)
        site.shown.append(2)
        wait_for(lambda: len(stored(data)) == 3, data)
        process.kill()
        process.wait()
        site.shown.append(3)
        site.fed.append(6)
        visits = web.count(site.hub)
        process = stack.enter_context(running(web.proxy, data, *crawl, *AT_ONCE))
        wait_for(lambda: web.count(site.hub) > visits + 3 and len(stored(data)) == 5, data)
        process.send_signal(signal.SIGINT)
        assert exit_status(process, data) == 0
    assert "stopped; no data is lost" in log_of(data).read_text()
    assert sum(hit.status == 304 for hit in web.hits if hit.url == site.hub) > 3
    assert web.count(site.feed) > 3
    assert len(stored(data)) == 5


class SeparateHosts(Growing):
    """Articles and feed on separate hosts, so that only the hub waits for the hub's delay."""

    feed, page = "http://c.test/news.xml", "http://b.test/{}.html"


@pytest.mark.usefixtures("no_coverage")
def test_hub_credited_in_flight_is_requested_conditionally(tmp_path: Path) -> None:
    site, data = SeparateHosts(), tmp_path / "data"
    crawl = ("crawl", "topic", "-a", "topic=足球", "-a", f"seeds={site.hub}", "-a", "watch=1")

    def growing(handler: BaseHTTPRequestHandler) -> Answer:
        answer = site.list(handler)
        site.shown = [1, 2]
        return answer

    with (
        Web({site.hub: growing, **site.pages}) as web,
        running(web.proxy, data, *crawl, *AT_ONCE, DOWNLOAD_DELAY="1.4"),
    ):
        wait_for(lambda: web.count(site.hub) > 2, data)
    hubs = [hit.status for hit in web.hits if hit.url == site.hub]
    assert hubs[:3] == [200, 200, 304]  # before, grown, unchanged


@pytest.mark.usefixtures("no_coverage")
def test_gzipped_news_sitemaps_are_found_by_robots_and_index(tmp_path: Path) -> None:
    site, data = Growing(), tmp_path / "data"
    index, named = "http://a.test/sitemap_index.xml", "http://a.test/news.xml.gz"
    page = site.page.format(8)
    entry = f"<url><loc>{page}</loc><news><title>足球第8轮</title></news></url>"
    pages: dict[str, Page] = {
        site.hub: site.list,
        "http://a.test/robots.txt": f"User-agent: *\nAllow: /\nSitemap: {index}",
        index: gzipped(f"<sitemapindex><sitemap><loc>{named}</loc></sitemap></sitemapindex>"),
        named: gzipped(f"<urlset>{entry}</urlset>"),
        **site.pages,
    }
    crawl = ("crawl", "topic", "-a", "topic=足球", "-a", f"seeds={site.hub}", "-a", "watch=once")
    with Web(pages) as web:
        status, out = run(web.proxy, data, *crawl)
    assert status == 0, out[-3000:]
    assert page in stored(data)


@pytest.mark.usefixtures("no_coverage")
def test_feed_that_only_one_article_names_is_not_read(tmp_path: Path) -> None:
    site, pages = Growing(), {}
    own = "http://a.test/{}/comments.xml"
    for number, (url, text) in enumerate(site.pages.items()):
        feeds = (site.feed, own.format(number))
        links = (f"<link rel=alternate type=application/rss+xml href={one}>" for one in feeds)
        pages[url] = text.replace("<head>", f"<head>{''.join(links)}")
    items = "".join(f"<li><a href=/{n}.html>足球比赛第{n}轮战报</a></li>" for n in (1, 2))
    hub = f"<title>足球</title><ul>{items}</ul>"
    crawl = ("crawl", "topic", "-a", "topic=足球", "-a", f"seeds={site.hub}", "-a", "watch=once")
    with Web({site.hub: hub, site.feed: site.show_feed, **pages}) as web:
        status, out = run(web.proxy, tmp_path / "data", *crawl)
    assert status == 0, out[-3000:]
    assert web.count(site.feed) == web.count(site.page.format(5)) == 1
    assert [web.count(own.format(number)) for number in (1, 2, 5)] == [0, 0, 0]


def gzipped(text: str) -> Answer:
    """Answer with a gzip file, without Content-Encoding, as some servers do."""
    return Answer(gzip.compress(text.encode()), headers=(("Content-Type", "application/gzip"),))


@pytest.mark.usefixtures("no_coverage")
def test_change_of_the_second_page_changes_the_article(tmp_path: Path) -> None:
    hub, first, second = (f"http://a.test/{name}" for name in ("", "1.html", "1_2.html"))
    text = article("足球第1轮", "第1轮足球比赛昨晚结束，")
    onward = text.replace("</body>", '<a href="/1_2.html">下一页</a></body>')
    pages: dict[str, Page] = {
        hub: f'<title>足球</title><ul><li><a href="{first}">足球比赛第1轮战报</a></li></ul>',
        first: onward,
        second: article("足球第1轮", "赛后足球主教练说："),
    }
    data, since = tmp_path / "data", time.time()
    crawl = ("crawl", "topic", "-a", "topic=足球", "-a", f"seeds={hub}", "-a", "watch=1")
    with Web(pages) as web, running(web.proxy, data, *crawl, *AT_ONCE):
        wait_for(lambda: web.count(second) > 1, data)
        assert changes_since(data, "足球", since).changed == ()
        pages[second] = article("足球第1轮", "更正：足球主教练说：")
        between = time.time()
        wait_for(lambda: bool(changes_since(data, "足球", between).changed), data)
        assert changes_since(data, "足球", between).changed == (first,)
    before, after = bodies(data, first)
    assert "赛后" in before
    assert "更正" in after


def bodies(data: Path, url: str) -> list[str]:
    """Return the texts of an article, the oldest first."""

    async def read() -> list[str]:
        store = SqliteStore(data)
        await store.open()
        try:
            story, versions = await store.get(url), await store.versions(url)
        finally:
            await store.close()
        return [one.body for one in versions] + ([story.article.body] if story else [])

    return asyncio.run(read())


class Failing:
    """A hub and an article that answer with ``statuses``, one per visit, then with 200."""

    hub, page = "http://a.test/", "http://a.test/1.html"

    def __init__(self, hub: tuple[int, ...] = (), page: tuple[int, ...] = ()) -> None:
        self.statuses = {self.hub: list(hub), self.page: list(page)}
        item = '<li><a href="/1.html">足球比赛第1轮战报</a></li>'
        text = f"<html><head><title>足球</title></head><body><ul>{item}</ul></body></html>"
        self.texts = {self.hub: text, self.page: article("足球第1轮", "第1轮足球比赛昨晚结束，")}

    def answer(self, handler: BaseHTTPRequestHandler) -> Answer:
        left = self.statuses[handler.path]
        status = left.pop(0) if left else 200
        return Answer(self.texts[handler.path] if status == 200 else "", status)

    def serve(self) -> Web:
        return Web(dict.fromkeys(self.texts, self.answer))


@pytest.mark.usefixtures("no_coverage")
@pytest.mark.parametrize("statuses", [(200, 404, 404), (200, 503, 503, 503)])
def test_hub_that_failed_is_visited_again_when_it_recovers(
    tmp_path: Path, statuses: tuple[int, ...]
) -> None:
    site, data = Failing(hub=statuses), tmp_path / "data"
    crawl = ("crawl", "topic", "-a", "topic=足球", "-a", f"seeds={site.hub}", "-a", "watch=1")
    with site.serve() as web, running(web.proxy, data, *crawl, *AT_ONCE):
        wait_for(lambda: web.count(site.hub) > len(statuses), data)


@pytest.mark.usefixtures("no_coverage")
def test_watch_waits_for_an_unreachable_seed(tmp_path: Path) -> None:
    site, data = Failing(hub=(503,) * 7), tmp_path / "data"  # three attempts a visit
    crawl = ("crawl", "topic", "-a", "topic=足球", "-a", f"seeds={site.hub}", "-a", "watch=1")
    soon = {"TOPICCRAWL_REVISIT_SHORTEST": "0.3"}
    with site.serve() as web, running(web.proxy, data, *crawl, *AT_ONCE, **soon) as process:
        wait_for(lambda: web.count(site.hub) > 9 and len(stored(data)) == 1, data)
        process.send_signal(signal.SIGINT)
        assert exit_status(process, data) == 0
    assert f"{site.hub} cannot be fetched (http-503)" in log_of(data).read_text()


@pytest.mark.usefixtures("no_coverage")
def test_watch_waits_for_a_seed_without_robots_txt(tmp_path: Path) -> None:
    hub, data = "http://a.test/", tmp_path / "data"
    crawl = ("crawl", "topic", "-a", "topic=足球", "-a", f"seeds={hub}", "-a", "watch=1")
    soon, failed = {"TOPICCRAWL_REVISIT_SHORTEST": "0.3"}, f"{hub} cannot be fetched (robots"
    unavailable: dict[str, Page] = {f"{hub}robots.txt": Answer("", 503)}
    with Web(unavailable) as web, running(web.proxy, data, *crawl, *AT_ONCE, **soon) as process:
        wait_for(lambda: log_of(data).read_text().count(failed) > 1, data)
        process.send_signal(signal.SIGINT)
        assert exit_status(process, data) == 0


@pytest.mark.usefixtures("no_coverage")
def test_watch_continues_after_the_clock_is_set_back(tmp_path: Path) -> None:
    site, data = Failing(), tmp_path / "data"

    def hub(_: BaseHTTPRequestHandler) -> Answer:
        headers = (("X-Clock-Set", "-3"),) if web.count(site.hub) == 3 else ()
        return Answer(site.texts[site.hub], headers=headers)

    web = Web({**site.texts, site.hub: hub})
    crawl = ("crawl", "trial", "-a", "topic=足球", "-a", f"seeds={site.hub}", "-a", "watch=1")
    with web, running(web.proxy, data, *crawl, *AT_ONCE):
        wait_for(lambda: web.count(site.hub) > 4, data)
        before = web.count(site.page)
        wait_for(lambda: web.count(site.page) > before + 1, data)
    assert "The system clock was set back" in log_of(data).read_text()


@pytest.mark.usefixtures("no_coverage")
def test_visits_are_not_answered_by_the_http_cache(tmp_path: Path) -> None:
    hub, page, data = "http://a.test/", "http://a.test/1.html", tmp_path / "data"
    cache = {"HTTPCACHE_ENABLED": "1", "HTTPCACHE_DIR": str(tmp_path / "cache")}
    crawl = ("crawl", "topic", "-a", "topic=足球", "-a", f"seeds={hub}", "-a", "watch=once")
    began = 0.0
    with Web({hub: f'<title>足球</title><a href="{page}">足球比赛第1轮战报</a>'}) as web:
        for text in ("第1轮足球比赛昨晚结束，", "更正：第1轮足球比赛今晚才结束，"):
            web.pages, began = {**web.pages, page: article("足球第1轮", text)}, time.time()
            status, out = run(web.proxy, data, *crawl, *AT_ONCE, **cache)
            assert status == 0, out[-3000:]
    assert changes_since(data, "足球", began).changed == (page,)


@pytest.mark.usefixtures("no_coverage")
def test_missing_page_is_visited_only_once_more(tmp_path: Path) -> None:
    site, data = Failing(page=(200, 404, 503, 503, 503)), tmp_path / "data"
    crawl = ("crawl", "topic", "-a", "topic=足球", "-a", f"seeds={site.hub}", "-a", "watch=once")
    with site.serve() as web:
        for _ in range(2):
            status, out = run(web.proxy, data, *crawl, *AT_ONCE)
            assert status == 0, out[-3000:]
        assert web.count(site.page) == 5
    assert changes_since(data, "足球", 0.0).gone == ()


@pytest.mark.usefixtures("no_coverage")
def test_failed_watch_ends_and_is_reported(tmp_path: Path) -> None:
    site = Growing()
    crawl = ("crawl", "broken", "-a", "topic=足球", "-a", f"seeds={site.hub}", "-a", "watch=1")
    with Web({site.hub: site.list, **site.pages}) as web:
        status, out = run(web.proxy, tmp_path / "data", *crawl, *AT_ONCE)
    assert status == 1
    assert "The watch failed because of a bug" in out
    assert "ZeroDivisionError: a mistake" in out


def wait_for(condition: Callable[[], bool], data: Path) -> None:
    until(condition, lambda: log_of(data).read_text()[-3000:])


def changes_since(data: Path, topic: str, since: float) -> Changes:
    """URLs of the stored changes since a time."""

    async def read() -> list[Change]:
        async with Pages(SqliteStorage(data)) as pages:
            return await pages.changes(topic, since)

    return by_event((one.event, one.url) for one in asyncio.run(read()))


def validated(data: Path) -> list[str]:
    """URLs of the pages that have a validator."""

    async def read() -> list[str]:
        pages = Pages(SqliteStorage(data))
        await pages.open()
        try:
            due = await pages.due(TOPIC, 1e12, 1000)
            return [state.url for state in due if state.etag or state.last_modified]
        finally:
            await pages.close()

    return asyncio.run(read())


TOPIC = "新能源汽车"


def by_event(changes: Iterable[tuple[str, str]]) -> Changes:
    given = sorted(changes, key=itemgetter(1))
    kinds = ("new", "changed", "gone")
    return Changes(*(tuple(url for event, url in given if event == kind) for kind in kinds))


def events(feed: Path) -> Changes:
    lines = [json.loads(line) for line in feed.read_text().splitlines()]
    return by_event((one["event"], one["url"]) for one in lines if "event" in one)


def body(web: DemoWeb, url: str) -> bytes:
    return web.answer(url).body
