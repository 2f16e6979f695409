"""Tests of the crawl's page with hostile and with very large data, in a real Chromium."""

from __future__ import annotations

import asyncio
import threading
from contextlib import closing, contextmanager, suppress
from functools import partial
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from aiohttp import web
from typing_extensions import override

from tests.crawl.test_dashboard import (
    LONG,
    browser,
    pytestmark,  # noqa: F401 - marks this file, too
)
from tests.unit.addons.dashboard.states import state
from tests.waiting import PATIENCE
from topiccrawl.addons.dashboard.address import Address
from topiccrawl.addons.dashboard.guard import Guard
from topiccrawl.addons.dashboard.server import DashboardServer
from topiccrawl.errors import ConfigurationError, StorageError
from topiccrawl.storage.contract import Listed
from topiccrawl.storage.runs import EMPTY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from topiccrawl.storage.runs import State

HOSTILE = (
    '"><img src=x onerror=window.hacked=1>',
    "<script>window.hacked=1</script>",
    "</title></style></textarea><svg/onload=window.hacked=1>",
    "{{constructor.constructor('window.hacked=1')()}}",
    "\u202e\u0000\ud800 &lt;b&gt; %3Cscript%3E",
)
HOSTILE_URLS = ("javascript:window.hacked=1", "data:text/html,<script>parent.hacked=1</script>")


class StubSource:
    """A source that returns given data."""

    def __init__(self, current: State, articles: list[Listed], more: State) -> None:
        self.current, self.listed, self.extra = current, articles, more

    async def state(self, crawl: str) -> State:
        return self.current

    async def states(self) -> list[State]:
        return [self.current]

    async def articles(self, crawl: str, offset: int, limit: int) -> tuple[int, list[Listed]]:
        return len(self.listed), self.listed[offset : offset + limit]

    async def more(self, crawl: str) -> State:
        return self.extra


async def tasks(_request: web.Request) -> web.Response:
    """Answer with a task of hostile texts."""
    site = {
        "site": HOSTILE[0],
        "state": "running",
        "worker": HOSTILE[1],
        "pages": 1,
        "reason": HOSTILE[2],
    }
    asked = {"id": "1", "arguments": {"topic": HOSTILE[1]}, "owner": HOSTILE[0]}
    task = {"state": "paused", "speed": 3.0, "pages": 1, "articles": 1, "sites": [site]}
    return web.json_response([{"task": asked, **task}])


@contextmanager
def served(source: StubSource, *more: web.RouteDef) -> Iterator[str]:
    """Run the server in its own event loop; yield the URL of the page."""
    loop = asyncio.new_event_loop()
    routes = [web.get("/api/tasks", tasks), *more]
    server = DashboardServer(source, Guard(Address("127.0.0.1", 0)), routes)
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.start(), loop).result(PATIENCE)
        yield server.url
    finally:
        asyncio.run_coroutine_threadsafe(server.stop(), loop).result(PATIENCE)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def article(url: str, title: str, site: str = "a.test") -> Listed:
    return Listed(url, title, site, "2026-01-01T08:00:00+08:00", 0.0, 0.3, ((title, 0.1),), 1)


def hostile_source() -> StubSource:
    """Return a source with hostile texts wherever the web or a topic supplies them."""
    current = state(topic=HOSTILE[0], node=HOSTILE[1], strategy=HOSTILE[2], frontier=HOSTILE[3])
    current["errors"] = dict.fromkeys(HOSTILE, 1)
    host = {
        "name": HOSTILE[0], "state": "ready", "queued": 1, "active": 0, "seconds": 0.0,
        "delay": 1.0, "pages": 1, "worth": 0.5, "failed": 1,
    }  # fmt: skip
    current["hosts"] = {
        "states": {"ready": 1},
        "list": [{**host, "name": text} for text in HOSTILE],
    }
    current["terms"] = {"changes": 1, "own": [HOSTILE[0]], "now": [[text, 0.5] for text in HOSTILE]}
    current["waiting"] = {"reason": "delays", "seconds": 9.0, "detail": HOSTILE[0]}
    listed = [
        article(url, text, HOSTILE[1]) for url in (*HOSTILE_URLS, *HOSTILE) for text in HOSTILE
    ]
    reprint = {"url": HOSTILE_URLS[0], "site": HOSTILE[0], "title": HOSTILE[1], "similarity": 1.0}
    change = {
        "number": 1, "at": 0.0, "pages": 1, "reason": HOSTILE[0],
        "came": [HOSTILE[1]], "went": [HOSTILE[2]],
    }  # fmt: skip
    pattern = {"label": "news", "expression": HOSTILE[0], "seen": 1, "articles": 1}
    site = {"site": HOSTILE[2], "ready": True, "pages": 1, "dropped": 1, "patterns": [pattern]}
    more = {
        "chains": [{"article": listed[0]._asdict(), "reprints": [reprint], "reprinted": 9}],
        "changes": [change], "learnt": [[HOSTILE[0], 0.1]], "patterns": [site],
    }  # fmt: skip
    return StubSource(current, listed, more)


def test_hostile_texts_are_shown_as_text() -> None:
    problems: list[str] = []
    with served(hostile_source()) as url, browser() as chromium:
        page = chromium.new_page()
        page.on("dialog", lambda dialog: problems.append(f"dialog: {dialog.message}"))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda m: problems.append(m.text) if m.type == "error" else None)
        page.goto(url)
        page.locator(".row .title").first.wait_for(timeout=LONG)
        page.locator(".chain .title").first.wait_for(timeout=LONG)
        page.locator(".task p").first.wait_for(timeout=LONG)
        assert page.locator("#topic").inner_text() == HOSTILE[0]
        assert page.locator(".row .title").first.inner_text() == HOSTILE[0]
        assert page.evaluate("window.hacked") is None
        links = page.evaluate("[...document.links].map(link => link.protocol)")
        assert set(links) <= {"http:", "https:"}
        made = "document.querySelectorAll('main script, main img, main svg[onload]').length"
        assert page.evaluate(made) == 0
    assert problems == []


def test_ten_thousand_articles_take_less_than_a_second() -> None:
    listed = [article(f"http://a.test/{n}", f"第{n}条新能源汽车消息") for n in range(10_000)]
    current = state()
    current["series"]["points"] = [[float(n), n, n // 2, 0.5, 0] for n in range(1200)]
    source = StubSource(
        current, listed, {"chains": [], "changes": [], "learnt": [], "patterns": []}
    )
    with served(source) as url, browser() as chromium:
        page = chromium.new_page(viewport={"width": 1360, "height": 900})
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        page.goto(url)
        page.locator(".row .title").first.wait_for(timeout=LONG)
        page.wait_for_timeout(500)
        found = session.send("Performance.getMetrics")["metrics"]
        work = {one["name"]: one["value"] for one in found}["TaskDuration"]
        assert work < 1.0, f"{work:.2f} s of the main thread's processor time"
        assert page.locator("#stored").inner_text() == "10,000 stored"
        page.evaluate("document.getElementById('list').scrollTop = 1e9")
        page.get_by_text("第9999条", exact=False).last.wait_for(timeout=LONG)
        rows = page.locator(".row").count()
        assert rows < 40


def test_page_shows_updated_figures() -> None:
    source = hostile_source()
    source.current = state()
    with served(source) as url, browser() as chromium:
        page = chromium.new_page(locale="en-GB")
        page.goto(url)
        page.locator(".tile .value").first.wait_for(timeout=LONG)
        grown: dict[str, Any] = {**source.current["totals"], "pages": 4321}
        source.current = {**source.current, "totals": grown}
        page.get_by_text("4,321").wait_for(timeout=LONG)


async def library(request: web.Request) -> web.Response:
    """Answer with an article that is deleted, or refuse a query."""
    if "q" in request.query:
        raise ConfigurationError("no searchable word")
    one = {
        "url": "http://a.test/1", "title": "车展", "site": "a.test", "published": "", "author": "",
        "score": 0.5, "text": "", "terms": [], "topics": ["t"],
    }  # fmt: skip
    facets: dict[str, list[str]] = {"topic": [], "site": [], "day": [], "event": []}
    values = dict.fromkeys(facets, 0)
    return web.json_response({"total": 1, "articles": [one], "facets": facets, "values": values})


def test_articles_page_shows_the_reason_of_an_error() -> None:
    source = StubSource(state(), [], {})
    with served(source, web.get("/api/library", library)) as url, browser() as chromium:
        page = chromium.new_page()
        page.goto(f"{url}articles")
        page.get_by_text("车展").click(timeout=LONG)
        page.get_by_text("404: Not Found").wait_for(timeout=LONG)
        page.locator("#q").fill("??")
        page.locator("#q").press("Enter")
        page.get_by_text("no searchable word").wait_for(timeout=LONG)
        assert page.get_by_text("车展").count() == 0


class PrefixProxy(BaseHTTPRequestHandler):
    """A reverse proxy that serves another server below ``/news/`` and nothing else."""

    def __init__(self, host: str, *connection: Any) -> None:
        self.host = host
        super().__init__(*connection)

    def do_GET(self) -> None:
        if not self.path.startswith("/news/"):
            self.send_error(404)
            return
        path, host = self.path.removeprefix("/news"), self.headers["Host"]
        with closing(HTTPConnection(self.host)) as connection, suppress(OSError):
            connection.request("GET", path, headers={"Host": host})
            answer = connection.getresponse()
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.headers["Content-Type"])
            self.end_headers()
            while chunk := answer.read1():
                self.wfile.write(chunk)  # fails when the browser leaves an event stream

    @override
    def log_message(self, *_: object) -> None:
        return


@contextmanager
def below_a_path(url: str) -> Iterator[str]:
    """Serve a dashboard below a path; yield the URL of the path."""
    handler = partial(PrefixProxy, url.split("/")[2])
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/news/"
        server.shutdown()


def test_pages_work_below_a_path_of_a_proxy() -> None:
    source, problems = hostile_source(), list[str]()
    with (
        served(source, web.get("/api/library", library)) as direct,
        below_a_path(direct) as url,
        browser() as chromium,
    ):
        page = chromium.new_page(locale="en-GB")
        page.on("requestfailed", lambda one: problems.append(one.url))
        page.on("response", lambda one: problems.append(one.url) if "/news/" not in one.url else 0)
        page.goto(url)
        page.locator(".row .title").first.wait_for(timeout=LONG)
        page.locator(".task p").first.wait_for(timeout=LONG)
        page.locator("#to-articles").click()
        page.get_by_text("车展").wait_for(timeout=LONG)
        page.locator("nav.pages a").first.click()
        page.wait_for_url(f"{url}crawls", timeout=LONG)
    assert [one for one in problems if "/news/" not in one] == []


class AwaySource(StubSource):
    """A source that cannot be read while ``away`` is set."""

    away = True

    @override
    async def state(self, crawl: str) -> State:
        if self.away:
            raise StorageError("Redis does not respond")
        return self.current


def test_page_reconnects_after_an_error() -> None:
    source = AwaySource(state(), [], {"chains": [], "changes": [], "learnt": [], "patterns": []})
    with served(source) as url, browser() as chromium:
        page = chromium.new_page(locale="en-GB")
        with page.expect_response("**/api/events") as first:
            page.goto(url)
        assert first.value.status == 503
        source.away = False
        page.get_by_text("crawling").first.wait_for(timeout=LONG)


def test_empty_folder_has_no_node() -> None:
    source = StubSource(EMPTY, [], {"chains": [], "changes": [], "learnt": [], "patterns": []})
    with served(source) as url, browser() as chromium:
        page = chromium.new_page(locale="en-GB")
        page.goto(url)
        page.get_by_text("No crawl yet").first.wait_for(timeout=LONG)
        assert page.get_by_text("crawling").count() == 0
