"""Tests of the journal of stored URLs."""

from __future__ import annotations

import asyncio
import resource
from pathlib import Path

import pytest

from tests.contracts.articles import article
from topiccrawl.errors import StorageError
from topiccrawl.storage import files
from topiccrawl.storage.sqlite import SqliteStore
from topiccrawl.storage.url_journal import UrlJournal


def test_deleted_articles_are_not_reported_as_lost(tmp_path: Path) -> None:
    async def run() -> None:
        store = SqliteStore(tmp_path / "store.sqlite")
        await store.open()
        journal = UrlJournal(tmp_path / "acknowledged")
        kept, deleted, lost = (article(n).url for n in (1, 2, 3))
        await store.save([article(1), article(2)])
        journal.add([kept, deleted])
        await store.forget([deleted], 1.0)
        await journal.prune(store)
        journal.add([lost])
        assert journal._file is not None
        journal._file.close()  # as at the end of the process

        again = UrlJournal(tmp_path / "acknowledged")
        assert await again.recover(store, [lost].__contains__) == (1, 1)
        await store.close()

    asyncio.run(run())


def test_files_that_another_process_removes_are_not_adopted(tmp_path: Path) -> None:
    for name in ("1.urls", "2.urls", "3.urls"):
        (tmp_path / name).touch()
    adopted = []
    for file in files.adopt(tmp_path, ".urls"):
        (tmp_path / "2.urls").unlink(missing_ok=True)  # as by a crawl that ends just now
        adopted.append(file)
    assert [Path(file.name).name for file in adopted] == ["1.urls", "3.urls"]
    assert not list(files.adopt(tmp_path, ".urls")), "they are locked"
    for file in adopted:
        file.close()


def test_journal_with_unwritten_lines_is_closed(tmp_path: Path) -> None:
    journal = UrlJournal(tmp_path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))  # as if the disk became full
    try:
        with pytest.raises(StorageError, match="cannot be written"):
            journal.add(["http://a.test/" + "x" * 200])
        journal.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not list(tmp_path.iterdir())


def test_urls_of_other_crawls_survive_a_disk_that_is_full_at_the_end(tmp_path: Path) -> None:
    other = "http://a.test/" + "x" * 200

    async def recovered(journal: UrlJournal) -> tuple[int, int]:
        store = SqliteStore(tmp_path / "store.sqlite")
        await store.open()
        try:
            return await journal.recover(store, lambda _: False)
        finally:
            await store.close()

    folder = tmp_path / "acknowledged"
    folder.mkdir()
    (folder / "left.urls").write_text(f"{other}\n")
    journal = UrlJournal(folder)
    assert asyncio.run(recovered(journal)) == (1, 0)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        journal.close()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    next_one = UrlJournal(folder)
    assert asyncio.run(recovered(next_one)) == (1, 0)
    next_one.close()


def test_journal_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "acknowledged" / "a.urls").mkdir(parents=True)  # root can read all files
    journal = UrlJournal(tmp_path / "acknowledged")
    with pytest.raises(StorageError, match=r"acknowledged.*cannot be read"):
        asyncio.run(journal.recover(SqliteStore(tmp_path / "store.sqlite"), lambda _: True))
