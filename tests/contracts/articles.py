"""Sample articles, and functions that run work on an opened store and list its articles."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING

from examples.jsonstore import JsonStore
from examples.jsonstore.articles import REPRINTS
from topiccrawl.addons.mongodb.store import MongoStore
from topiccrawl.model import Article
from topiccrawl.storage.selection import Selection
from topiccrawl.storage.sqlite import SqliteStore
from topiccrawl.text.digest import digest_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from topiccrawl.storage.contract import ArticleStore


def article(
    number: int, text: int | None = None, topic: str = "足球", score: float = 0.5
) -> Article:
    shown = number if text is None else text
    body = f"第{shown}场比赛昨晚在体育中心结束，主队以三比零获胜，球迷在场外庆祝到深夜。"
    return Article(
        url=f"http://site{number}.test/a",
        title=f"第{number}篇",
        body=body,
        final_url=f"http://site{number}.test/a?x",
        canonical_url=f"http://site{number}.test/c",
        site=f"site{number}.test",
        published="2020-01-02T03:04:00+08:00",
        source="本地日报",
        author="张三",
        language="zh",
        images=(f"http://site{number}.test/1.jpg",),
        topics={topic: score},
        terms=(("比赛", 0.7), ("球迷", 0.3)),
        fetched_at=1_600_000_000.5,
        depth=3,
        digest=digest_of(body),
        noarchive=True,
        encoding="gb18030",
    )


def run(store: ArticleStore, work: Callable[[ArticleStore], Awaitable[None]]) -> None:
    async def run_opened() -> None:
        await store.open()
        try:
            await work(store)
        finally:
            await store.close()

    asyncio.run(run_opened())


async def stored_in(store: ArticleStore, topic: str = "") -> list[Article]:
    """Return the articles of a topic, or of all topics, the last stored first."""
    return [article async for article in store.select(Selection(topic))]


async def counts_of(store: ArticleStore) -> Counter[str]:
    """Return the numbers of ``articles``, ``reprints`` and ``topic/NAME`` (articles of a topic).

    Reprints are counted as they are stored, also those whose story is deleted.
    """
    sizes = Counter[str](articles=0, reprints=await _reprints_in(store))
    for one in await stored_in(store):
        sizes.update(["articles", *(f"topic/{name}" for name in one.topics)])
    return sizes


async def _reprints_in(store: ArticleStore) -> int:
    if isinstance(store, MongoStore):
        return int(await store.server.reprints.count_documents({}))
    if isinstance(store, JsonStore):
        return await store._journal.read(lambda: len(store._journal.table(REPRINTS)))
    assert isinstance(store, SqliteStore)
    count = "SELECT count(*) FROM reprints"
    number: int = await store._database.read(lambda c: c.execute(count).fetchone()[0])
    return number
