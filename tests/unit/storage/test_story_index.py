"""Tests of the index of duplicates in RAM: loading and rebuilding for another method."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.contracts.articles import article, run
from topiccrawl.dedup.factory import load_detector
from topiccrawl.errors import StorageError
from topiccrawl.storage import rows
from topiccrawl.storage.contract import ArticleStore, Fate
from topiccrawl.storage.sqlite import SqliteStore

if TYPE_CHECKING:
    from pathlib import Path


async def save_ten(store: ArticleStore) -> None:
    await store.save([article(number) for number in range(10)])


async def save_copies(store: ArticleStore) -> None:
    saved = await store.save([article(20, text=2), article(21, text=21)])
    assert [one.fate for one in saved] == [Fate.REPRINT, Fate.NEW]


def test_index_is_loaded_by_saves_only(tmp_path: Path) -> None:
    run(SqliteStore(tmp_path), save_ten)
    store = SqliteStore(tmp_path)

    async def read_then_save(_: ArticleStore) -> None:
        assert await store.get(article(1).url)
        assert len([one async for one in store.select()]) == 10
        assert store._stories._last is None
        await save_copies(store)
        assert store._stories._last is not None

    run(store, read_then_save)


@pytest.mark.parametrize("name", ["shingles", "ranked-keywords"])
def test_failed_first_save_changes_nothing(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(SqliteStore(tmp_path), save_ten)
    store = SqliteStore(tmp_path, method=load_detector(name))

    def fail(*_: object) -> int:
        raise sqlite3.OperationalError("disk I/O error")

    async def fail_then_save() -> None:
        await store.open()
        with monkeypatch.context() as broken:
            broken.setattr(rows, "insert", fail)
            with pytest.raises(StorageError):
                await store.save([article(30)])
        assert store._stories._last is not None, "it was loaded by what was rolled back"
        await save_copies(store)
        await store.close()

    asyncio.run(fail_then_save())
    with closing(sqlite3.connect(store.path)) as file:
        query = "SELECT value FROM properties WHERE name = 'duplicates'"
        assert file.execute(query).fetchone() == (load_detector(name).scheme,)


def test_crawls_with_different_methods_find_reprints_and_warn(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def save_in_turns() -> None:
        names = ("shingles", "ranked-keywords")
        stores = [SqliteStore(tmp_path, method=load_detector(name)) for name in names]
        for store in stores:
            await store.open()
        await save_ten(stores[0])
        assert not caplog.messages
        for number, store in enumerate((*stores, *stores), start=20):
            (saved,) = await store.save([article(number, text=2)])
            assert saved.fate is Fate.REPRINT
        for store in stores:
            await store.close()

    asyncio.run(save_in_turns())
    assert len([text for text in caplog.messages if "TOPICCRAWL_DUPLICATES" in text]) == 3
