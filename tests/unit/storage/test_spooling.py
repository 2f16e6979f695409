"""Tests of the spooling store: outages, replay, refused articles and listeners."""

from __future__ import annotations

import asyncio
import sqlite3
from typing import TYPE_CHECKING

import pytest
from typing_extensions import override

from tests.contracts.articles import stored_in
from tests.unit.addons.warc.test_archive import file_size_limit
from tests.waiting import PATIENCE
from topiccrawl.errors import StorageAwayError, StorageError
from topiccrawl.model import Article
from topiccrawl.storage import database
from topiccrawl.storage.contract import Fate, Saved, StoreListener, Story, Version
from topiccrawl.storage.selection import ALL
from topiccrawl.storage.spool import Spool
from topiccrawl.storage.spooling import SpoolingStore
from topiccrawl.storage.sqlite import SqliteStore

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence
    from pathlib import Path

    from topiccrawl.storage.selection import Selection


class Distant:
    """In-memory store that fails a given number of times and refuses articles titled "bad"."""

    def __init__(self, failures: float = 0) -> None:
        self.failures = failures
        self.order: list[str] = []
        self.kept: dict[str, Article] = {}
        self.back = asyncio.Event()

    async def open(self) -> None:
        self._answer()

    async def close(self) -> None:
        return

    async def save(self, articles: Sequence[Article]) -> list[Saved]:
        self._answer()
        if any(article.title == "bad" for article in articles):
            raise StorageError("refused")
        self.kept |= {article.url: article for article in articles}
        self.order += [article.url for article in articles]
        self.back.set()
        return [Saved(article.url, Fate.NEW, article.url) for article in articles]

    async def get(self, url: str) -> Story | None:
        self._answer()
        return Story(self.kept[url]) if url in self.kept else None

    async def versions(self, url: str) -> list[Version]:
        self._answer()
        return []

    async def articles(self, topic: str = "", *, limit: int = 0, offset: int = 0) -> list[Article]:
        return list(self.kept.values())

    async def select(self, selection: Selection = ALL) -> AsyncGenerator[Article, None]:
        for kept in self.kept.values():
            yield kept

    async def forget(self, names: Sequence[str], now: float) -> int:
        return 0

    async def expire(self, topic: str, before: float) -> int:
        return 0

    def _answer(self) -> None:
        if self.failures > 0:
            self.failures -= 1
            raise StorageAwayError("away")


def article(number: int, at: float = 0.0, title: str = "题") -> Article:
    return Article(f"http://a.test/{number}", title, "文", fetched_at=at)


AWAY = float("inf")


def test_save_waits_for_the_end_of_a_short_outage(tmp_path: Path) -> None:
    async def scenario() -> None:
        distant = Distant(failures=2)
        store = SpoolingStore(distant, Spool(tmp_path))
        await store.open()
        distant.failures = 2
        assert [saved.fate for saved in await store.save([article(1)])] == [Fate.NEW]
        await store.close()

    asyncio.run(scenario())
    assert list(tmp_path.iterdir()) == []


def test_articles_of_a_long_outage_are_spooled_and_stored_in_order(tmp_path: Path) -> None:
    async def scenario() -> None:
        distant = Distant()
        store = SpoolingStore(distant, Spool(tmp_path), retry_seconds=0.1)
        await store.open()
        distant.failures = AWAY
        for number in (1, 2):
            assert [saved.fate for saved in await store.save([article(number)])] == [Fate.SPOOLED]
        assert distant.kept == {}
        seen = [store.away]
        distant.failures = 1
        async with asyncio.timeout(PATIENCE):
            await distant.back.wait()
        assert [saved.fate for saved in await store.save([article(3)])] == [Fate.NEW]
        assert [*seen, store.away] == [True, False]
        await store.close()
        assert distant.order == [article(n).url for n in (1, 2, 3)]

    asyncio.run(scenario())
    assert list(tmp_path.iterdir()) == []


def test_spooled_articles_are_stored_at_the_next_start(tmp_path: Path) -> None:
    async def scenario() -> None:
        distant = Distant()
        store = SpoolingStore(distant, Spool(tmp_path), retry_seconds=0.0)
        await store.open()
        distant.failures = AWAY
        await store.save([article(1, at=1.0), article(2, at=1.0)])
        await store.close()
        assert distant.kept == {}
        newer = article(1, at=2.0)
        distant = Distant()
        distant.kept[newer.url] = newer  # fetched and stored by another node meanwhile
        store = SpoolingStore(distant, Spool(tmp_path))
        await store.open()
        assert distant.kept == {newer.url: newer, article(2).url: article(2, at=1.0)}
        await store.close()

    asyncio.run(scenario())
    assert list(tmp_path.iterdir()) == []


def test_refused_spooled_article_is_set_aside(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        spool = Spool(tmp_path)
        spool.append([article(1), article(2, title="bad"), article(3)])
        spool.close()
        distant = Distant()
        store = SpoolingStore(distant, Spool(tmp_path))
        await store.open()
        assert sorted(distant.kept) == [article(1).url, article(3).url]
        await store.close()

        distant = AcceptingStore()
        store = SpoolingStore(distant, Spool(tmp_path))  # the next crawl: the cause is fixed
        await store.open()
        assert list(await stored_in(distant)) == [article(2, title="bad")]
        await store.close()

    asyncio.run(scenario())
    assert list(tmp_path.iterdir()) == []


def test_refused_article_stays_in_the_spool_if_the_disk_is_full(tmp_path: Path) -> None:
    async def scenario() -> None:
        spool = Spool(tmp_path)
        spool.append([article(1), article(2, title="bad")])
        spool.close()
        store = SpoolingStore(Distant(), spool)
        with file_size_limit(1):
            await store.open()
        assert spool.waiting == 2
        await store.close()

    asyncio.run(scenario())


def test_article_set_aside_after_a_full_disk_is_read_again(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    with file_size_limit(100), pytest.raises(StorageError):
        spool.refuse(article(1), "refused")
    spool.refuse(article(1), "refused")
    following = Spool(tmp_path)
    following.open()
    assert following.peek(2) == [article(1)]
    following.close()


class AcceptingStore(Distant):
    """Store that accepts every article."""

    @override
    async def save(self, articles: Sequence[Article]) -> list[Saved]:
        self.kept |= {article.url: article for article in articles}
        return [Saved(article.url, Fate.NEW, article.url) for article in articles]


class UnauthorizedStore(Distant):
    """Store that is available but refuses each save until it is authorized."""

    allowed = False

    @override
    async def save(self, articles: Sequence[Article]) -> list[Saved]:
        if not self.allowed:
            raise StorageError("not authorised")
        return await super().save(articles)


def test_store_that_refuses_all_sets_nothing_aside(tmp_path: Path) -> None:
    async def scenario() -> None:
        spool = Spool(tmp_path)
        spool.append([article(n) for n in range(3)])
        spool.close()
        distant = UnauthorizedStore()
        store = SpoolingStore(distant, Spool(tmp_path))
        await store.open()
        assert not (tmp_path / "refused.txt").exists()
        distant.allowed = True
        async with asyncio.timeout(PATIENCE):
            await distant.back.wait()
        await store.close()
        assert distant.order == [article(n).url for n in range(3)]

    asyncio.run(scenario())
    assert list(tmp_path.iterdir()) == []


class SlowStore(Distant):
    """Store whose saves take nine seconds each by its own clock."""

    seconds = 0.0

    @override
    async def save(self, articles: Sequence[Article]) -> list[Saved]:
        self.seconds += 9.0
        return await super().save(articles)


def test_close_does_not_wait_for_the_replay_to_a_slow_store(tmp_path: Path) -> None:
    async def scenario() -> None:
        distant = SlowStore(AWAY)
        store = SpoolingStore(
            distant, Spool(tmp_path), retry_seconds=0.0, clock=lambda: distant.seconds
        )
        store.spool.append([article(n) for n in range(500)])
        distant.failures = 0
        store._start_replay()
        await store.close()
        assert 0 < len(distant.kept) < 500
        again = SpoolingStore(distant, Spool(tmp_path))
        await again.open()
        await again.close()
        assert len(distant.kept) == 500

    asyncio.run(scenario())
    assert list(tmp_path.iterdir()) == []


def test_other_errors_are_raised_to_the_caller(tmp_path: Path) -> None:
    async def scenario() -> None:
        store = SpoolingStore(Distant(), Spool(tmp_path))
        await store.open()
        with pytest.raises(StorageError, match="refused"):
            await store.save([article(1, title="bad")])
        await store.close()

    asyncio.run(scenario())


def test_open_fails_if_the_store_is_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        monkeypatch.setattr("topiccrawl.storage.spooling.OPEN_SECONDS", 0.2)
        store = SpoolingStore(Distant(AWAY), Spool(tmp_path))
        async with asyncio.timeout(PATIENCE):
            with pytest.raises(StorageAwayError):
                await store.open()

    asyncio.run(scenario())


class UnreadableStore(Distant):
    """Store that refuses one read after an outage."""

    @override
    async def get(self, url: str) -> Story | None:
        if self.failures == 0:
            self.failures = -1
            raise StorageError("not authorised")
        return await super().get(url)


def test_replay_is_retried_after_any_storage_error(tmp_path: Path) -> None:
    async def scenario() -> None:
        distant = UnreadableStore()
        store = SpoolingStore(distant, Spool(tmp_path), retry_seconds=0.0)
        await store.open()
        distant.failures = 2
        assert [saved.fate for saved in await store.save([article(1)])] == [Fate.SPOOLED]
        async with asyncio.timeout(PATIENCE):
            await distant.back.wait()
        await store.close()
        assert list(distant.kept) == [article(1).url]

    asyncio.run(scenario())
    assert list(tmp_path.iterdir()) == []


class RecordingListener(StoreListener):
    """Listener that records its calls and can fail one of them with a full disk."""

    def __init__(self, full: str = "") -> None:
        self.calls: list[tuple[str, ...]] = []
        self.full = full

    @override
    async def open(self) -> None:
        self._note("open")

    @override
    async def close(self) -> None:
        self._note("close")

    @override
    async def article_storing(self, articles: Sequence[Article]) -> None:
        self._note("storing", *(one.url for one in articles))

    @override
    async def article_stored(self, articles: Sequence[Article], saved: Sequence[Saved]) -> None:
        assert [one.url for one in articles] == [one.url for one in saved]
        self._note("stored", *(one.fate for one in saved))

    def _note(self, *call: str) -> None:
        self.calls.append(call)
        if call[0] == self.full:
            raise StorageError("full")


URLS = tuple(article(n).url for n in (1, 2))


def test_listener_is_called_before_and_after_a_save(tmp_path: Path) -> None:
    async def scenario() -> None:
        store = SpoolingStore(Distant(), Spool(tmp_path), [listener])
        await store.open()
        await store.save([article(1), article(2)])
        await store.close()

    listener = RecordingListener()
    asyncio.run(scenario())
    assert listener.calls == [("open",), ("storing", *URLS), ("stored", "new", "new"), ("close",)]


def test_listener_is_called_when_a_spooled_article_is_stored(tmp_path: Path) -> None:
    async def scenario() -> None:
        distant = Distant()
        store = SpoolingStore(distant, Spool(tmp_path), [listener], retry_seconds=0.0)
        await store.open()
        distant.failures = AWAY
        assert [saved.fate for saved in await store.save([article(1)])] == [Fate.SPOOLED]
        assert not any(call[0] == "stored" for call in listener.calls)
        await store.close()
        again = SpoolingStore(Distant(), Spool(tmp_path), [listener])
        await again.open()  # the next crawl
        await again.close()

    listener = RecordingListener()
    asyncio.run(scenario())
    assert listener.calls[-4:] == [("open",), ("storing", URLS[0]), ("stored", "new"), ("close",)]


@pytest.mark.parametrize(("full", "kept"), [("storing", False), ("stored", True)])
def test_listener_error_fails_the_save(tmp_path: Path, full: str, *, kept: bool) -> None:
    async def scenario() -> None:
        distant = Distant()
        store = SpoolingStore(distant, Spool(tmp_path), [RecordingListener(full)])
        await store.open()
        with pytest.raises(StorageError, match="full"):
            await store.save([article(1)])
        await store.close()
        assert bool(distant.kept) == kept

    asyncio.run(scenario())


def test_open_fails_if_a_listener_cannot_open(tmp_path: Path) -> None:
    async def scenario() -> None:
        listener = RecordingListener("open")
        store = SpoolingStore(Distant(), Spool(tmp_path), [listener])
        with pytest.raises(StorageError, match="full"):
            await store.open()
        assert listener.calls == [("open",), ("close",)]

    asyncio.run(scenario())


def test_articles_are_spooled_while_another_process_locks_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.05)

    async def crawl() -> tuple[Fate, list[Article]]:
        local = SqliteStore(tmp_path)
        store = SpoolingStore(local, Spool(tmp_path / "spool"), retry_seconds=0.0)
        await store.open()
        other = sqlite3.connect(local.path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        (saved,) = await store.save([Article("http://a.test/1", "t", "b")])
        other.execute("ROLLBACK")
        other.close()
        await store.close()  # stores what is spooled
        await local.open()
        found = await stored_in(local)
        await local.close()
        return saved.fate, found

    fate, found = asyncio.run(crawl())
    assert (fate, [article.url for article in found]) == (Fate.SPOOLED, ["http://a.test/1"])
