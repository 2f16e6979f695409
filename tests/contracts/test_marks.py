"""Marks of topics, over each implementation of the store."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from tests.mongo_server import database_uri
from topiccrawl.storage.choice import storage_of
from topiccrawl.storage.marks import MarkStore
from topiccrawl.storage.sites import Sites
from topiccrawl.topics.marks import Mark

if TYPE_CHECKING:
    from pathlib import Path

ONE = Mark("http://a.test/1?a=b.c", "题", "文", wanted=True)
TWO = Mark("http://a.test/2", "", "text", wanted=False, article=0.25)


@pytest.fixture(params=["mongo", "sqlite"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    uri = ""
    if request.param == "mongo":
        uri = database_uri(request.getfixturevalue("mongo_uri"), tmp_path)
    return {"MONGODB_URI": uri, "TOPICCRAWL_DATA_DIR": str(tmp_path)}


def test_marks_stay_by_topic_and_url(settings: dict[str, Any]) -> None:
    async def law() -> None:
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

    asyncio.run(law())


def test_what_is_forgotten_leaves_no_mark_and_no_sample(settings: dict[str, Any]) -> None:
    async def law() -> None:
        three = ONE._replace(url="http://b.test/1")
        async with MarkStore.opened(settings, "足球") as store:
            await store.mark([ONE, TWO, three])
            await store.put_pages(1, [ONE])
            async with Sites(storage_of(settings)) as sites:
                await sites.forget([ONE.url, "site:b.test"])
            assert await store.marks() == [TWO]
            assert await store.pages() == (0, [])

    asyncio.run(law())


def test_a_sample_replaces_the_earlier_one(settings: dict[str, Any]) -> None:
    async def law() -> None:
        async with MarkStore.opened(settings, "足球") as store:
            assert await store.pages() == (0, [])
            await store.put_pages(7, [ONE._replace(wanted=None)])
            await store.put_pages(9, [TWO._replace(wanted=None)])
            assert await store.pages() == (9, [TWO._replace(wanted=None)])
            assert await store.marks() == []

    asyncio.run(law())
