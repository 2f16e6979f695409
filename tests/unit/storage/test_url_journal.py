"""Tests of the journal of stored URLs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tests.contracts.articles import article
from topiccrawl.storage.sqlite import SqliteStore
from topiccrawl.storage.url_journal import UrlJournal

if TYPE_CHECKING:
    from pathlib import Path


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
        assert await again.missing(store) == [lost]
        assert again.resolve([lost], bool) == 1
        await store.close()

    asyncio.run(run())
