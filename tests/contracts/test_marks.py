"""Tests of marks of topics, over each storage."""

from __future__ import annotations

import asyncio
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
import redis

from tests.mongo_server import database_uri
from topiccrawl.model import Mark
from topiccrawl.storage.factory import storage_of
from topiccrawl.storage.sites import MarkStore, Sites

if TYPE_CHECKING:
    from pathlib import Path

ONE = Mark("http://a.test/1?a=b.c", "题", "文", wanted=True)
TWO = Mark("http://a.test/2", "", "text", wanted=False, article=0.25, expected=0.5)


@pytest.fixture(params=["mongo", "sqlite", "redis"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    given: dict[str, Any] = {"TOPICCRAWL_DATA_DIR": str(tmp_path)}
    if request.param == "mongo":
        given["MONGODB_URI"] = database_uri(request.getfixturevalue("mongo_uri"), tmp_path)
        given["TOPICCRAWL_STORAGES"] = {"topiccrawl.addons.mongodb.storage.MongoStorage": 100}
    if request.param == "redis":
        given["REDIS_URL"] = request.getfixturevalue("redis_url")
        given["TOPICCRAWL_STORAGES"] = {"topiccrawl.addons.redis.storage.NodeStorage": 200}
        with closing(redis.Redis.from_url(given["REDIS_URL"])) as client:
            client.flushdb()
    return given


def test_marks_stay_by_topic_and_url(settings: dict[str, Any]) -> None:
    async def check() -> None:
        async with MarkStore.opened(settings, "足球") as store:
            assert await store.changed() == 0.0
            await store.mark([ONE, TWO])
            before = await store.changed()
            await store.mark([ONE._replace(wanted=False)])
            assert await store.changed() > before > 0.0
        async with MarkStore.opened(settings, "足球") as store:
            assert sorted(await store.marks()) == [ONE._replace(wanted=False), TWO]
            await store.mark([ONE._replace(wanted=None)])
            assert await store.marks() == [TWO]
        async with MarkStore.opened(settings, "other") as store:
            assert await store.marks() == []
            assert await store.changed() == 0.0

    asyncio.run(check())


def test_forgetting_removes_marks_and_samples(settings: dict[str, Any]) -> None:
    async def check() -> None:
        three = ONE._replace(url="http://b.test/1")
        async with MarkStore.opened(settings, "足球") as store:
            await store.mark([ONE, TWO, three])
            await store.put_pages(1, [ONE])
            async with Sites(storage_of(settings)) as sites:
                await sites.forget([ONE.url, "site:b.test"])
            assert await store.marks() == [TWO]
            assert await store.pages() == (0, [])

    asyncio.run(check())


def test_a_sample_replaces_the_earlier_one(settings: dict[str, Any]) -> None:
    async def check() -> None:
        async with MarkStore.opened(settings, "足球") as store:
            assert await store.pages() == (0, [])
            await store.put_pages(7, [ONE._replace(wanted=None)])
            await store.put_pages(9, [TWO._replace(wanted=None)])
            assert await store.pages() == (9, [TWO._replace(wanted=None)])
            assert await store.marks() == []

    asyncio.run(check())


def test_nodes_share_marks_but_no_samples(
    settings: dict[str, Any], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    other = {**settings, "TOPICCRAWL_DATA_DIR": str(tmp_path / "other")}
    alone = "sqlite" in request.node.name
    shared = "mongo" in request.node.name

    async def check() -> None:
        async with MarkStore.opened(settings, "足球") as store:
            await store.mark([ONE])
            await store.put_pages(1, [ONE])
        async with MarkStore.opened(other, "足球") as store:
            assert await store.marks() == ([] if alone else [ONE])
            assert (await store.changed() > 0) is not alone
            assert await store.pages() == ((1, [ONE]) if shared else (0, []))

    asyncio.run(check())
