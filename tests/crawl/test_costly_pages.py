"""Pages and feeds that are expensive to read do not delay the crawl of another site."""

from __future__ import annotations

import resource
import time
from typing import TYPE_CHECKING

import pytest

from tests.crawl.run import exit_status, running, stored
from tests.crawl.test_endings import TEXT, why
from tests.crawl.web import Answer, Page, Web, article

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.crawl, pytest.mark.slow]

GOOD, COSTLY = "http://good.test", "http://costly.test"
GOOD_PAGES = 60
MAX_SECONDS = 60
MAX_MEMORY = 1_500_000_000
"""Maximum bytes of data of the crawl; 130 kB of open font tags took 10 GB."""

STORY = article("新能源汽车", TEXT)


def feed(items: str) -> Answer:
    text = f"<rss><channel><title>新能源汽车</title>{items}</channel></rss>"
    return Answer(text, headers=(("Content-Type", "application/rss+xml; charset=utf-8"),))


def item(text: str, inside: str = "") -> str:
    link = f"<link>{COSTLY}/1</link>"
    return f"<item><title>新</title>{link}<description>{text}</description>{inside}</item>"


def nested(depth: int) -> str:
    return item("新能源汽车" * 500, nested(depth - 1) if depth else "")


COSTLY_PAGES: dict[str, Page] = {
    "/feed-of-tags": feed(item(f"<![CDATA[{'<' * 4_000_000}]]>")),
    "/feed-in-feed": feed(nested(100) * 20),
    "/options": STORY + "<select>" + "<option>x" * 400_000,
    "/attributes": f"<p {' '.join(f'a{n}' for n in range(60_000))}>{STORY}",
    "/tags-of-attributes": f"<p {' '.join(f'a{n}' for n in range(12_000))}>" * 40 + STORY,
    "/roots": "".join(f"<html a{n}>" for n in range(100_000)) + STORY,
    "/fonts": "<p>" + "".join(f"<font id=f{n}>" for n in range(900)) + "<p>x" * 30_000 + STORY,
    "/formats": "<p>" + "<b><i><u><s>" * 3 + "<p>x" * 400_000 + STORY,
    "/numbers": f'<script type="application/ld+json">[{"1," * 400_000}1]</script>{STORY}',
    "/boxes": "<div>" * 500_000 + STORY,
    "/heading": f"{STORY}<h2>{' ' * 2_000_000}x</h2><ul>"
    + "".join(f"<li><a href=/n{n}>{n}</a>" for n in range(6_000)),
    "/drawings": "<svg>" + "<a>" * 500_000 + STORY,
    "/tags": STORY + "<br>" * 1_000_000,
}


def test_good_site_is_fetched_in_a_minute_beside_costly_pages(tmp_path: Path) -> None:
    good = {
        f"{GOOD}/{n}": article(f"新能源汽车要闻第{n}篇", f"{TEXT}编号{n}。")
        for n in range(GOOD_PAGES)
    }
    costly = {COSTLY + path: page for path, page in COSTLY_PAGES.items()}
    fronts = {
        f"{GOOD}/": article("新能源汽车频道", TEXT, *good),
        f"{COSTLY}/": article("新能源汽车专题", TEXT, *costly),
    }
    data = tmp_path / "data"
    trial = ("crawl", "trial", "-a", "topic=新能源汽车", "-a", f"seeds={COSTLY}/,{GOOD}/")
    some = {"TOPICCRAWL_HOST_PAGES": "100"}  # of the thousands that costly pages link to
    with (
        Web({**fronts, **good, **costly}) as web,
        running(web.proxy, data, *trial, **some) as crawl,
    ):
        resource.prlimit(crawl.pid, resource.RLIMIT_DATA, (MAX_MEMORY, MAX_MEMORY))
        begun = time.time()
        assert exit_status(crawl, data) == 0
        times = {hit.url: hit.at - begun for hit in web.hits}
    assert set(good) <= times.keys()
    assert max(times[url] for url in good) < MAX_SECONDS
    assert set(good) <= set(stored(data))
    assert {why(data, url).queue for url in costly} <= {"crawled", "error"}
