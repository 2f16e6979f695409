"""A crawl of a web with known stories stores each once, with its reprints."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from lab.demo import Web, generate
from lab.demo.crawl import crawl
from lab.demo.judge import read_log
from lab.demo.plan import Kind
from tests.contracts.articles import stored_in
from topiccrawl.storage.sqlite import SqliteStore

if TYPE_CHECKING:
    from pathlib import Path

    from topiccrawl.storage.contract import Story

pytestmark = [pytest.mark.crawl, pytest.mark.slow]

QUICK = ("DOWNLOAD_DELAY=0.01", "TOPICCRAWL_RETRY_DELAY=0.1", "LOG_LEVEL=ERROR")


def stories(folder: Path) -> list[Story]:
    async def look() -> list[Story]:
        store = SqliteStore(folder)
        await store.open()
        try:
            found = [await store.get(article.url) for article in await stored_in(store)]
        finally:
            await store.close()
        return [story for story in found if story is not None]

    return asyncio.run(look())


def story_of(web: Web, url: str) -> int:
    """Return the number of the story of a page, or -1."""
    truth = web.lookup(url)
    return -1 if truth is None else truth.story


def fetched(web: Web, folder: Path) -> list[str]:
    """Return the fetched articles on topic that may be stored."""
    numbers = {web.number(one.url) for one in read_log(folder / "access.tsv") if one.status == 200}
    entries = [web.plan.entries[n] for n in numbers if n is not None and n in web.relevant]
    return [e.url for e in entries if e.kind == Kind.ARTICLE and "noindex" not in e.url]


def test_each_story_is_stored_once_with_its_reprints(tmp_path: Path) -> None:
    web = generate(1, 350, faults=False)
    options = [part for option in QUICK for part in ("-s", option)]
    assert crawl(web, tmp_path, options) == 0
    kept = stories(tmp_path)
    reprints = [(story_of(web, story.article.url), r) for story in kept for r in story.reprints]
    assert [story_of(web, r.url) for _, r in reprints] == [number for number, _ in reprints]
    assert all(r.site and r.seen_at and r.similarity > 0.2 and r.reason for _, r in reprints)
    assert len(reprints) >= 3
    numbers = Counter(story_of(web, story.article.url) for story in kept)
    del numbers[-1]
    assert max(numbers.values()) == 1
    articles = fetched(web, tmp_path)
    lost = [url for url in articles if story_of(web, url) not in numbers]
    assert len(articles) >= 40
    assert len(lost) <= 0.03 * len(articles), lost  # judged off topic by the crawl
