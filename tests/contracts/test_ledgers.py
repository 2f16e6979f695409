"""Contract tests of the ledgers: swaps are atomic, for all processes."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
import redis.asyncio
from hypothesis import given, settings
from hypothesis import strategies as st
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from topiccrawl.addons.redis.ledger import SharedLedger
from topiccrawl.errors import SettingError, StorageAwayError
from topiccrawl.storage.ledger import Control, LocalLedger

if TYPE_CHECKING:
    from pathlib import Path

    from tests.contracts.conftest import OnLedger
    from topiccrawl.storage.ledger import Key, Ledger


def test_rows_are_swapped_together_or_not_at_all(on_ledger: OnLedger) -> None:
    async def check(ledger: Ledger) -> None:
        a, b = ("k", "甲 1"), ("l", "b")
        assert await ledger.get(*a) is None
        assert await ledger.swap({a: None, b: None}, {a: "1", b: "二"})
        assert not await ledger.swap({a: None}, {a: "9"})
        assert not await ledger.swap({a: "1", b: "other"}, {a: "9", b: "9"})
        assert await ledger.read("k", "l", "m") == {"k": {"甲 1": "1"}, "l": {"b": "二"}, "m": {}}
        assert await ledger.swap({a: "1"}, {a: None, b: "3"})
        assert (await ledger.get(*a), await ledger.get(*b)) == (None, "3")

    on_ledger(check)


KEYS = st.tuples(st.sampled_from("kl"), st.text(st.characters(codec="utf-8"), min_size=1))
ROWS = st.dictionaries(KEYS, st.text(st.characters(codec="utf-8")), max_size=5)


@settings(max_examples=20)
@given(before=ROWS, after=ROWS)
def test_any_text_is_read_back_unchanged(
    before: dict[Key, str], after: dict[Key, str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    async def check() -> None:
        ledger = LocalLedger(tmp_path_factory.mktemp("ledger"))
        assert await ledger.swap({}, before)
        assert await ledger.swap(before, after)
        found = await ledger.read("k", "l")
        flat = {(kind, name): text for kind, rows in found.items() for name, text in rows.items()}
        assert flat == {**before, **after}

    asyncio.run(check())


def test_concurrent_increments_are_all_counted(on_ledger: OnLedger) -> None:
    async def check(ledger: Ledger) -> None:
        async def count() -> None:
            for _ in range(10):
                while True:
                    known = await ledger.get("n", "n")
                    if await ledger.swap(
                        {("n", "n"): known}, {("n", "n"): str(int(known or 0) + 1)}
                    ):
                        break

        await asyncio.gather(*(count() for _ in range(4)))
        assert await ledger.get("n", "n") == "40"

    on_ledger(check)


def test_orders_stay_until_they_are_changed(on_ledger: OnLedger) -> None:
    async def check(ledger: Ledger) -> None:
        control = Control(ledger)
        await control.speed("nev", 0.5)
        assert (await control.pause("nev")).paused
        order = await control.order("nev")
        assert (order.paused, order.speed, order.cancelled) == (True, 0.5, 0.0)
        assert not (await control.order("other")).paused
        began = await ledger.now()
        assert (await control.cancel("nev")).cancelled >= began
        assert not (await control.order("nev")).paused
        with pytest.raises(SettingError, match="speed is 0"):
            await control.speed("nev", 0)

    on_ledger(check)


def test_unreachable_server_or_folder_raises_an_error(tmp_path: Path) -> None:
    async def check() -> None:
        (tmp_path / "file").write_text("")
        away = SharedLedger(redis.asyncio.Redis(port=9, retry=Retry(NoBackoff(), 0)))
        for ledger in (away, LocalLedger(tmp_path / "file")):
            with pytest.raises(StorageAwayError):
                await ledger.swap({}, {("a", "b"): "c"})
            await ledger.close()

    asyncio.run(check())
