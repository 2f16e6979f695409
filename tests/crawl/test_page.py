"""The page with what the web may have written, and with very much of it, in a real Chromium."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from aiohttp import web

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
from topiccrawl.storage.contract import Listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from topiccrawl.storage.status import State

WILD = (
    '"><img src=x onerror=window.hacked=1>',
    "<script>window.hacked=1</script>",
    "</title></style></textarea><svg/onload=window.hacked=1>",
    "{{constructor.constructor('window.hacked=1')()}}",
    "\u202e\u0000\ud800 &lt;b&gt; %3Cscript%3E",
)
EVIL = ("javascript:window.hacked=1", "data:text/html,<script>parent.hacked=1</script>")


class Given:
    """A source that says what it was given."""

    def __init__(self, told: State, articles: list[Listed], more: State) -> None:
        self.told, self.all, self.rare = told, articles, more

    async def state(self, crawl: str) -> State:
        return self.told

    async def states(self) -> list[State]:
        return [self.told]

    async def articles(self, crawl: str, offset: int, limit: int) -> tuple[int, list[Listed]]:
        return len(self.all), self.all[offset : offset + limit]

    async def more(self, crawl: str) -> State:
        return self.rare


async def tasks(_request: web.Request) -> web.Response:
    """A wild task."""
    site = {"site": WILD[0], "state": "running", "worker": WILD[1], "pages": 1, "reason": WILD[2]}
    asked = {"id": "1", "arguments": {"topic": WILD[1]}, "owner": WILD[0]}
    task = {"state": "paused", "speed": 3.0, "pages": 1, "articles": 1, "sites": [site]}
    return web.json_response([{"task": asked, **task}])


@contextmanager
def served(source: Given) -> Iterator[str]:
    """The page's address; the server has a loop of its own."""
    loop = asyncio.new_event_loop()
    routes = [web.get("/api/tasks", tasks)]
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


def wild_source() -> Given:
    """Everything that comes from the web, or from a topic, is wild."""
    told = state(topic=WILD[0], node=WILD[1], strategy=WILD[2], frontier=WILD[3])
    told["errors"] = dict.fromkeys(WILD, 1)
    host = {
        "name": WILD[0], "state": "ready", "queued": 1, "active": 0, "seconds": 0.0, "delay": 1.0,
        "pages": 1, "worth": 0.5, "failed": 1,
    }  # fmt: skip
    told["hosts"] = {"states": {"ready": 1}, "list": [{**host, "name": text} for text in WILD]}
    told["terms"] = {"changes": 1, "own": [WILD[0]], "now": [[text, 0.5] for text in WILD]}
    told["waiting"] = {"reason": "delays", "seconds": 9.0, "detail": WILD[0]}
    listed = [article(url, text, WILD[1]) for url in (*EVIL, *WILD) for text in WILD]
    reprint = {"url": EVIL[0], "site": WILD[0], "title": WILD[1], "similarity": 1.0}
    change = {
        "number": 1, "at": 0.0, "pages": 1, "reason": WILD[0], "came": [WILD[1]], "went": [WILD[2]],
    }  # fmt: skip
    pattern = {"label": "news", "expression": WILD[0], "seen": 1, "articles": 1}
    site = {"site": WILD[2], "ready": True, "pages": 1, "dropped": 1, "patterns": [pattern]}
    more = {
        "chains": [{"article": listed[0]._asdict(), "reprints": [reprint], "reprinted": 9}],
        "changes": [change], "learnt": [[WILD[0], 0.1]], "patterns": [site],
    }  # fmt: skip
    return Given(told, listed, more)


def test_what_the_web_wrote_stays_text() -> None:
    troubles: list[str] = []
    with served(wild_source()) as url, browser() as chromium:
        page = chromium.new_page()
        page.on("dialog", lambda dialog: troubles.append(f"dialog: {dialog.message}"))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("console", lambda m: troubles.append(m.text) if m.type == "error" else None)
        page.goto(url)
        page.locator(".row .title").first.wait_for(timeout=LONG)
        page.locator(".chain .title").first.wait_for(timeout=LONG)
        page.locator(".task p").first.wait_for(timeout=LONG)
        assert page.locator("#topic").inner_text() == WILD[0]
        assert page.locator(".row .title").first.inner_text() == WILD[0]
        assert page.evaluate("window.hacked") is None
        links = page.evaluate("[...document.links].map(link => link.protocol)")
        assert set(links) <= {"http:", "https:"}
        made = "document.querySelectorAll('main script, main img, main svg[onload]').length"
        assert page.evaluate(made) == 0
    assert troubles == []


def test_ten_thousand_articles_cost_the_browser_no_second() -> None:
    listed = [article(f"http://a.test/{n}", f"第{n}条新能源汽车消息") for n in range(10_000)]
    told = state()
    told["series"]["points"] = [[float(n), n, n // 2, 0.5, 0] for n in range(1200)]
    source = Given(told, listed, {"chains": [], "changes": [], "learnt": [], "patterns": []})
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


def test_a_reader_that_comes_back_sees_what_it_missed() -> None:
    source = wild_source()
    source.told = state()
    with served(source) as url, browser() as chromium:
        page = chromium.new_page(locale="en-GB")
        page.goto(url)
        page.locator(".tile .value").first.wait_for(timeout=LONG)
        grown: dict[str, Any] = {**source.told["totals"], "pages": 4321}
        source.told = {**source.told, "totals": grown}
        page.get_by_text("4,321").wait_for(timeout=LONG)
