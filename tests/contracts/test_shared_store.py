"""Tests of nodes with separate stores: each story is stored once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from redis import Redis as PlainRedis
from redis.asyncio import Redis
from typing_extensions import override

from tests.contracts.articles import article, counts_of
from topiccrawl.addons.redis.shared_store import NodeStore
from topiccrawl.addons.redis.stories import Claim, StoryRegister
from topiccrawl.dedup.verified import VerifiedShingles
from topiccrawl.errors import StorageAwayError, StorageError
from topiccrawl.storage.contract import Fate
from topiccrawl.storage.spool import Spool
from topiccrawl.storage.spooling import SpoolingStore

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path
    from sqlite3 import Connection
    from typing import Any


class Full(NodeStore):
    """Store that cannot write, as on a full disk."""

    @override
    def _save_all(self, connection: Connection, articles: Sequence[Any]) -> list[Any]:
        raise StorageError(f"no room for {len(articles)}")


def node(folder: Path, number: int, url: str, kind: type[NodeStore] = NodeStore) -> NodeStore:
    return kind(folder / f"node-{number}", lambda: Redis.from_url(url))


def with_nodes(folder: Path, url: str, number: int, work: Callable[..., Awaitable[None]]) -> None:
    async def run() -> None:
        nodes = [node(folder, n, url) for n in range(number)]
        for one in nodes:
            await one.open()
        try:
            await work(*nodes)
        finally:
            for one in nodes:
                await one.close()

    asyncio.run(run())


def test_story_found_by_several_nodes_at_once_is_stored_once(
    tmp_path: Path, redis_url: str
) -> None:
    async def work(*nodes: NodeStore) -> None:
        texts = range(12)
        groups = [[article(100 * n + text, text) for text in texts] for n in range(len(nodes))]
        saves = [one.save(group) for one, group in zip(nodes, groups, strict=True)]
        fates = [saved for answer in await asyncio.gather(*saves) for saved in answer]
        assert sum(saved.fate is Fate.NEW for saved in fates) == len(texts)
        assert sum([(await counts_of(one))["articles"] for one in nodes]) == len(texts)
        stories = {saved.url for saved in fates if saved.fate is Fate.NEW}
        assert {saved.story for saved in fates} == stories

    with_nodes(tmp_path, redis_url, 4, work)


def test_a_reprint_at_the_node_of_its_story_is_recorded_there(
    tmp_path: Path, redis_url: str
) -> None:
    async def work(one: NodeStore, two: NodeStore) -> None:
        await one.save([article(1)])
        (away,) = await two.save([article(2, 1)])
        assert (away.fate, away.story, away.reason) == (Fate.REPRINT, article(1).url, "same-text")
        assert (await counts_of(two))["articles"] == 0
        assert (away.recorded, await two.get(away.url)) == (False, None)
        (here,) = await one.save([article(3, 1)])
        assert (here.fate, here.recorded) == (Fate.REPRINT, True)
        story = await one.get(article(3, 1).url)
        assert story is not None
        assert [reprint.url for reprint in story.reprints] == [article(3, 1).url]

    with_nodes(tmp_path, redis_url, 2, work)


def test_page_refetched_by_another_node_is_no_reprint(tmp_path: Path, redis_url: str) -> None:
    async def work(one: NodeStore, two: NodeStore) -> None:
        await one.save([article(1)])
        assert [saved.fate for saved in await two.save([article(1)])] == [Fate.NEW]
        assert [saved.fate for saved in await one.save([article(1)])] == [Fate.UNCHANGED]
        (changed,) = await one.save([article(1, 7)])
        assert changed.fate is Fate.UPDATED
        assert [saved.fate for saved in await two.save([article(2, 1)])] != [Fate.UNCHANGED]
        (reprint,) = await two.save([article(3, 7)])
        assert (reprint.fate, reprint.story) == (Fate.REPRINT, article(1).url)

    with_nodes(tmp_path, redis_url, 2, work)


def test_story_of_a_failed_save_is_stored_by_another_node(tmp_path: Path, redis_url: str) -> None:
    async def work(one: NodeStore) -> None:
        full = node(tmp_path, 9, redis_url, Full)
        await full.open()
        with pytest.raises(StorageError):
            await full.save([article(1)])
        await full.close()
        assert [saved.fate for saved in await one.save([article(1)])] == [Fate.NEW]

    with_nodes(tmp_path, redis_url, 1, work)


def test_forgotten_articles_are_deleted_from_redis(tmp_path: Path, redis_url: str) -> None:
    async def work(one: NodeStore, two: NodeStore) -> None:
        await one.save([article(1), article(2), article(3)])
        await two.forget([article(1).url, "site:site2.test"], 1.0)
        with PlainRedis.from_url(redis_url) as client:
            base = "{topiccrawl:stories:" + VerifiedShingles.scheme + "}:"
            for table in ("names", "texts", "keys", "urls"):
                assert client.hlen(base + table) == 1
        (saved,) = await two.save([article(4, 1)])
        assert saved.fate is Fate.NEW

    with_nodes(tmp_path, redis_url, 2, work)


def test_only_the_newest_texts_are_kept_and_late_nodes_are_refused(redis_url: str) -> None:
    async def run() -> None:
        method = VerifiedShingles()
        one, two = (StoryRegister(Redis.from_url(redis_url), method, "a", 5) for _ in range(2))
        claims = [Claim(article(n), method.keys(article(n))) for n in range(8)]
        for claim in claims:
            await one.refresh()
            assert await one.claim([claim], [])
        assert not await two.claim(claims[:1], []), "it has not looked"
        await two.refresh()
        found = await two.known([article(n).url for n in range(8)])
        assert set(found) == {article(n).url for n in range(3, 8)}
        ((candidate, *_),) = await two.near([claims[7].keys])
        assert candidate.article.url == article(7).url
        for register in (one, two):
            await register.close()

    asyncio.run(run())


def test_articles_are_spooled_while_redis_is_unavailable(tmp_path: Path) -> None:
    async def run() -> None:
        store = node(tmp_path, 0, "redis://127.0.0.1:9/0")
        await store.open()
        with pytest.raises(StorageAwayError, match="Redis"):
            await store.save([article(1)])
        await store.close()
        safe = SpoolingStore(node(tmp_path, 0, "redis://127.0.0.1:9/0"), Spool(tmp_path / "spool"),
                         retry_seconds=0.1)  # fmt: skip
        await safe.open()
        assert [saved.fate for saved in await safe.save([article(1)])] == [Fate.SPOOLED]
        await safe.close()

    asyncio.run(run())
