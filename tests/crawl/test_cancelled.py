"""Callbacks and pipelines that raise asyncio.CancelledError lose no page silently."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.crawl.run import run
from tests.crawl.web import Page, Web
from topiccrawl.scheduler.frontiers import read_frontier

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.crawl, pytest.mark.slow]

SITE = "http://news.test"
LINKS = '<a href="/callback">1</a> <a href="/pipeline">2</a> <a href="/last">3</a>'
PAGES: dict[str, Page] = {
    f"{SITE}/": LINKS, f"{SITE}/callback": "", f"{SITE}/pipeline": "", f"{SITE}/last": "",
}  # fmt: skip


def test_cancelled_errors_of_users_are_reported_and_end_their_pages(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with Web(PAGES) as web:
        _, out = run(
            web.proxy, data, "crawl", "cancelling", SPIDER_MODULES="tests.crawl.cancelling"
        )
    assert "'finish_reason': 'finished'" in out, out[-3000:]
    assert f"the callback of {SITE}/callback raised asyncio.CancelledError" in out
    assert f"{SITE}/pipeline: 1 items came back from no pipeline" in out
    assert f"frontier requeue {SITE}/pipeline" in out
    frontier = read_frontier(data / "frontiers" / "spider-cancelling")
    found = {path: frontier.why(f"{SITE}/{path}") for path in ("callback", "pipeline", "last")}
    assert {path: why and (why.queue, why.reason) for path, why in found.items()} == {
        "callback": ("error", "callback-RuntimeError"),
        "pipeline": ("crawled", ""),
        "last": ("crawled", ""),
    }
