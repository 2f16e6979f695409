"""Pages are judged by their words and by the links that led to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.crawl.run import run, stored
from tests.crawl.web import Answer, Page, Web, article
from tests.waiting import until
from topiccrawl.frontier.entries import HostEntry
from topiccrawl.scheduler.frontiers import read_frontier

if TYPE_CHECKING:
    from collections.abc import Callable
    from http.server import BaseHTTPRequestHandler
    from pathlib import Path

pytestmark = pytest.mark.crawl

SITE = "http://news.test"
ON = f"{SITE}/on/"
BARE = f"{SITE}/story99.html"
NAMED = "足球比赛昨晚结束，{n}号球员进球，足球迷在场边欢呼，教练总结了足球队的表现。"
OTHER = "昨晚的活动结束，{n}位市民在场边欢呼，主办方总结了全年的表现，并宣布明年的安排。"
ARGUMENTS = ("crawl", "topic", "-a", "topic=足球", "-a", f"seeds={SITE}/")


def after_the_others(web: Web) -> Callable[[BaseHTTPRequestHandler], Answer]:
    """Return the list on topic, answered once all pages off topic are requested.

    What the links to a page predict depends on the pages that were read before.
    """
    page = str(web.pages[ON])

    def answer(_: BaseHTTPRequestHandler) -> Answer:
        until(lambda: sum("/other" in hit.url for hit in web.hits) == 20)
        return Answer(page)

    return answer


def pages() -> dict[str, Page]:
    """Return a list on topic, one story of which hardly names it, and a list off topic."""
    on = {f"{SITE}/story{n}.html": f"足球新闻{n}" for n in range(20)} | {BARE: "赛后的足球夜晚"}
    off = {f"{SITE}/other{n}.html": f"城市活动{n}" for n in range(20)}
    web: dict[str, Page] = {
        f"{SITE}/": f'<a href="{SITE}/on/">足球</a> <a href="{SITE}/off/">城市</a>',
        ON: "".join(f'<p><a href="{url}">{text}</a></p>' for url, text in on.items()),
        f"{SITE}/off/": "".join(f'<p><a href="{url}">{text}</a></p>' for url, text in off.items()),
    }
    for number, url in enumerate([*on, *off]):
        text = NAMED if "story" in url else OTHER
        web[url] = article(f"报道之{number}", text.format(n=number) * 2)
    web[BARE] = article(
        "赛后的夜晚", "足球队也在现场。" + "".join(OTHER.format(n=n) for n in range(12))
    )
    return web


@pytest.mark.slow
@pytest.mark.parametrize("judged", ["1", "0"])
def test_article_expected_by_its_links_is_stored(tmp_path: Path, judged: str) -> None:
    with Web(pages()) as web:
        web.pages = {**web.pages, ON: after_the_others(web)}
        settings = {"TOPICCRAWL_LINK_RELEVANCE": judged, "TOPICCRAWL_DUPLICATES": "exact-text"}
        settings |= {"TOPICCRAWL_READERS": "1", "TOPICCRAWL_SLOW_START": "0"}
        status, log = run(web.proxy, tmp_path, *ARGUMENTS, **settings)
    assert status == 0, log[-3000:]
    found = stored(tmp_path)
    assert (BARE in found) is (judged == "1")
    assert f"{SITE}/story7.html" in found
    assert not [url for url in found if "other" in url]
    status, out = run("", tmp_path, "why", BARE)
    assert ("· (links) +0." in out) is (judged == "1"), out


def test_list_with_further_pages_does_not_count_in_its_directory(tmp_path: Path) -> None:
    web = pages()
    web[ON] = f'{web[ON]}<a href="{SITE}/on/page/2/">2</a>'
    web[f"{SITE}/on/page/2/"] = f'<a href="{ON}">1</a>'
    with Web(web) as served:
        status, log = run(served.proxy, tmp_path, *ARGUMENTS)
    assert status == 0, log[-3000:]
    (place,) = (tmp_path / "frontiers").iterdir()
    entries = read_frontier(place).export()
    (host,) = (entry for entry in entries if isinstance(entry, HostEntry) and entry.pages)
    counted = {name: number for name, number, _ in host.groups}
    assert counted["/off/"] == 1
    assert "/on/" not in counted
