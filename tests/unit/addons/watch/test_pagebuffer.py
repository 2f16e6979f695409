"""Tests of the buffer of page states, also with an unavailable store."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from typing_extensions import override

from tests.waiting import came
from topiccrawl.addons.watch.pagebuffer import FAILURES, PageBuffer
from topiccrawl.errors import StorageAwayError, StorageError
from topiccrawl.storage.pages import Pages, PageState
from topiccrawl.storage.sqlite import SqliteStorage

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

ONE = PageState("足球", "http://a.test/1", checked_at=1.0)


class FailingPages(Pages):
    """Page store that raises the given errors on its next saves."""

    def __init__(self, folder: Path, *errors: StorageError) -> None:
        super().__init__(SqliteStorage(folder))
        self.errors = list(errors)
        self.groups: list[int] = []

    @override
    async def save(self, states: Sequence[PageState]) -> None:
        if self.errors:
            raise self.errors.pop(0)
        self.groups.append(len(states))
        await super().save(states)


def test_states_share_a_transaction_and_are_readable_at_once(tmp_path: Path) -> None:
    async def check() -> None:
        pages = FailingPages(tmp_path)
        await pages.open()
        buffer = PageBuffer(pages)
        states = [replace(ONE, url=f"http://a.test/{n}") for n in range(20)]
        saving = asyncio.gather(*(buffer.save(state) for state in states))
        await asyncio.sleep(0)
        assert await buffer.get("足球", [states[3].url]) == {states[3].url: states[3]}
        await saving
        assert pages.groups == [20]
        assert await pages.get("足球", [states[3].url]) == {states[3].url: states[3]}
        await buffer.close()

    asyncio.run(check())


def test_latest_state_is_saved_when_the_store_is_back(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def check() -> None:
        pages = FailingPages(tmp_path, StorageAwayError("away"), StorageAwayError("away"))
        await pages.open()
        buffer = PageBuffer(pages, patience=0.02)
        await buffer.save(ONE)
        newer = replace(ONE, checked_at=2.0)
        await buffer.save(newer)
        assert await buffer.get("足球", [ONE.url]) == {ONE.url: newer}
        assert [record.levelname for record in caplog.records] == ["WARNING"]

        async def stored() -> bool:
            return await pages.get("足球", [ONE.url]) == {ONE.url: newer}

        await came(stored)
        await buffer.close()

    asyncio.run(check())


def test_states_are_written_when_the_store_is_back_soon_after_the_end(tmp_path: Path) -> None:
    async def check() -> None:
        pages = FailingPages(tmp_path, *(StorageAwayError("away") for _ in range(3)))
        await pages.open()
        buffer = PageBuffer(pages, patience=0.02)
        await buffer.save(ONE)
        await buffer.close()
        await pages.open()
        assert await pages.get("足球", [ONE.url]) == {ONE.url: ONE}
        await pages.close()

    asyncio.run(check())


def test_save_raises_the_error_and_the_next_state_is_saved(tmp_path: Path) -> None:
    async def check() -> None:
        pages = FailingPages(tmp_path, StorageError("no room"))
        await pages.open()
        buffer = PageBuffer(pages)
        with pytest.raises(StorageError, match="no room"):
            await buffer.save(ONE)
        await buffer.save(ONE)
        assert pages.groups == [1]
        await buffer.close()

    asyncio.run(check())


def test_crawl_ends_after_repeated_failures(tmp_path: Path) -> None:
    async def check() -> None:
        pages = FailingPages(tmp_path)
        await pages.open()
        ends: list[int] = []
        buffer = PageBuffer(pages, end=lambda: ends.append(1))
        for failures in (FAILURES - 1, FAILURES + 1):
            pages.errors = [StorageError("disk full") for _ in range(failures)]
            assert not ends
            for _ in range(failures):
                with pytest.raises(StorageError):
                    await buffer.save(ONE)
            await buffer.save(ONE)
        assert ends == [1]
        await buffer.close()

    asyncio.run(check())
