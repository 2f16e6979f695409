"""Documents of a node: marks in Redis, all else in its file."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from topiccrawl.addons.redis.storage import NodeStorage
from topiccrawl.errors import StorageAwayError
from topiccrawl.model import Mark
from topiccrawl.storage.marks import MarkStore
from topiccrawl.storage.sites import Sites
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

    async def law() -> None:
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

    asyncio.run(law())
