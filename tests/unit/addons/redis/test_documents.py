"""Tests of the documents of a node: marks in Redis, all others in its file."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
import redis

from topiccrawl.addons.redis.storage import NodeStorage
from topiccrawl.errors import StorageAwayError
from topiccrawl.model import Mark
from topiccrawl.storage.documents import pages
from topiccrawl.storage.sites import MARKS, SITES, MarkStore, Sites
from topiccrawl.storage.sqlite import SqliteStorage

if TYPE_CHECKING:
    from pathlib import Path

AWAY = "redis://127.0.0.1:1/0"
ONE, TWO, THREE = (Mark(f"http://a.test/{n}", "题", "文", wanted=True) for n in range(3))


def node(folder: Path, url: str) -> NodeStorage:
    return NodeStorage({"TOPICCRAWL_DATA_DIR": str(folder), "REDIS_URL": url})


def test_marks_in_the_file_of_a_node_move_to_redis(tmp_path: Path, redis_url: str) -> None:
    mine, other = tmp_path / "mine", tmp_path / "other"
    no_more = TWO._replace(wanted=False)

    async def check() -> None:
        async with Sites(SqliteStorage(mine)) as file:
            await MarkStore(file, "球").mark([ONE, TWO])
            await MarkStore(file, "城").mark([THREE])
            await file.put("a.test", {"patterns": ["^/a/"]})
            async with Sites(node(mine, AWAY)) as sites:
                with pytest.raises(StorageAwayError):
                    await MarkStore(sites, "球").marks()
            assert sorted(await MarkStore(file, "球").marks()) == [ONE, TWO]
            async with Sites(node(other, redis_url)) as sites:
                elsewhere = MarkStore(sites, "球")
                await elsewhere.mark([no_more])
                before = await elsewhere.changed()
                async with Sites(node(mine, redis_url)) as own:
                    assert sorted(await MarkStore(own, "球").marks()) == [ONE, no_more]
                    assert await own.get("a.test") == {"patterns": ["^/a/"]}
                assert sorted(await elsewhere.marks()) == [ONE, no_more]
                assert await MarkStore(sites, "城").marks() == [THREE]
                assert await elsewhere.changed() > before
                await sites.forget([ONE.url])
                assert await elsewhere.marks() == [no_more]
            assert await MarkStore(file, "球").marks() == []
            assert await MarkStore(file, "城").changed() == 0.0

    asyncio.run(check())


def test_documents_are_listed_in_order_with_a_limit(tmp_path: Path, redis_url: str) -> None:
    async def check() -> None:
        storage = node(tmp_path, redis_url)
        async with Sites(storage) as sites:
            await sites.put("a.test", {"one": 1, "two": 2})
            await sites.put("z.test", {"one": 1})
            await MarkStore(sites, "球").mark([ONE, TWO, THREE])
        documents, order = storage.documents(SITES), ("site", "key")
        await documents.open()
        found = await documents.find(SITES, {}, order=order, fields=("key", "site"))
        assert len(found) == 7  # with the time of the marks
        assert found == sorted(found, key=lambda one: (one["site"], one["key"]))
        assert await documents.find(SITES, {}, order=order, fields=order, limit=2) == found[:2]
        paged = [page async for page in pages(documents, SITES, {}, order, fields=order, size=2)]
        assert [one for page in paged for one in page] == found
        where = {"site": f"{MARKS}球"}
        (last,) = await documents.find(SITES, where, order=("key",), after=(TWO.url,), limit=2)
        assert last["key"] == THREE.url
        await documents.close()

    asyncio.run(check())


def test_documents_of_sites_need_no_redis(tmp_path: Path) -> None:
    async def check() -> None:
        async with Sites(node(tmp_path, AWAY)) as sites:
            await sites.put("a.test", {"patterns": ["^/a/"]})
            assert await sites.sites("patterns") == ["a.test"]
            assert await sites.get("a.test") == {"patterns": ["^/a/"]}
        documents = node(tmp_path, AWAY).documents(SITES)
        await documents.open()
        assert await documents.delete(SITES, {"site": "a.test"}, {"key": "patterns"}) == 1
        with pytest.raises(StorageAwayError):  # forgetting must not leave marks behind
            await documents.find(SITES, {})
        await documents.close()

    asyncio.run(check())


def test_marks_are_stored_with_their_name_in_one_transaction(
    tmp_path: Path, redis_url: str
) -> None:
    async def check() -> None:
        async with Sites(node(tmp_path, redis_url)) as sites:
            await sites.put(f"{MARKS}球", {mark.url: mark._asdict() for mark in (ONE, TWO, THREE)})

    with redis.Redis.from_url(redis_url) as client:
        client.config_resetstat()
        asyncio.run(check())
        calls = {name: one["calls"] for name, one in client.info("commandstats").items()}
    assert [calls.get(f"cmdstat_{name}") for name in ("multi", "exec", "hset", "sadd")] == [1] * 4
