"""A foreign page in the operator's Chromium, which has the token, has no access."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from aiohttp import web

from tests.crawl.test_dashboard import (
    LONG,
    browser,
    pytestmark,  # noqa: F401 - marks this file, too
)
from tests.crawl.test_page import StubSource
from tests.crawl.web import Web
from tests.unit.addons.dashboard.states import state
from topiccrawl.addons.dashboard.address import Address
from topiccrawl.addons.dashboard.guard import Guard
from topiccrawl.addons.dashboard.server import DashboardServer

if TYPE_CHECKING:
    from collections.abc import Iterator

TOKEN = "open-sesame-open-sesame"  # noqa: S105
ATTACKS = """async (target) => {
  const act = target + 'api/act', readable = [];
  const given = { method: 'POST', credentials: 'include' };
  for (const [url, options] of [
    [act, { ...given, mode: 'no-cors' }],
    [act, { ...given, mode: 'no-cors', body: new Blob(['{}'], { type: 'text/plain' }) }],
    [act, { ...given, headers: { 'X-Topiccrawl': '1' } }],
    [act, { ...given, mode: 'no-cors', headers: { 'X-Topiccrawl': '1' } }],
    [target + 'api/state', { credentials: 'include' }],
    [target + 'api/tasks', { credentials: 'include' }],
  ]) {
    try {
      const answer = await fetch(url, options);
      if (answer.type !== 'opaque') readable.push(url + ' ' + answer.status);
    } catch { /* refused */ }
  }
  navigator.sendBeacon(act, '{}');
  const form = Object.assign(document.createElement('form'), { action: act, method: 'POST' });
  const frame = Object.assign(document.createElement('iframe'), { name: 'inner' });
  form.target = 'inner';
  document.body.append(frame, form);
  form.submit();
  await new Promise((done) => { frame.onload = done; setTimeout(done, 3000); });
  return readable;
}"""
"""Script for requests to another site in all ways; returns the answers that it could read."""


class Acts:
    """Counts the actions that were carried out."""

    def __init__(self) -> None:
        self.done = 0

    async def act(self, _request: web.Request) -> web.Response:
        self.done += 1
        return web.json_response({})


@contextmanager
def served(acts: Acts) -> Iterator[str]:
    """Run the server in its own event loop; yield the URL of the page."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    source = StubSource(state(), [], {"chains": [], "changes": [], "learnt": [], "patterns": []})
    guard = Guard(Address("127.0.0.1", 0), TOKEN)
    server = DashboardServer(source, guard, [web.post("/api/act", acts.act)])
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.start(), loop).result(60)
        yield server.url
    finally:
        asyncio.run_coroutine_threadsafe(server.stop(), loop).result(60)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def test_foreign_pages_and_foreign_host_names_have_no_access() -> None:
    acts = Acts()
    names = "--host-resolver-rules=MAP evil.test 127.0.0.1"
    with served(acts) as url, Web({"/": "<p>come in"}) as foreign, browser(names) as chromium:
        context = chromium.new_context(locale="en-GB")
        own, other = context.new_page(), context.new_page()
        assert own.goto(url).status == 401
        own.goto(f"{url}?token={TOKEN}")
        own.locator("#state", has_text="crawling").wait_for(timeout=LONG)
        assert own.url == url, "the token does not stay in the address"
        sent = {"X-Topiccrawl": "1"}
        asked = "(headers) => fetch('/api/act', { method: 'POST', headers }).then((a) => a.status)"
        assert (own.evaluate(asked, sent), acts.done) == (200, 1), (
            "the dashboard's own page can act"
        )
        port = foreign.server.server_port
        for place in (f"http://127.0.0.1:{port}/", f"http://evil.test:{port}/"):
            other.goto(place)
            assert other.evaluate(ATTACKS, url) == []
        assert acts.done == 1
        rebound = url.replace("127.0.0.1", "evil.test")
        assert other.goto(rebound).status == 401, "the cookie is not sent there"
        assert other.goto(f"{rebound}?token={TOKEN}").status == 421, "the host name is refused"
