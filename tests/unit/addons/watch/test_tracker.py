"""What is written of a visited page, and when: no kill may make a page's links be lost."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING

from typing_extensions import override

from tests.waiting import soon
from topiccrawl.addons.watch.pagebuffer import PageBuffer
from topiccrawl.addons.watch.pagestates import PageStates, VisitResult
from topiccrawl.addons.watch.policies import UniformRevisits
from topiccrawl.addons.watch.tracker import VisitTracker
from topiccrawl.errors import StorageAwayError
from topiccrawl.frontier.contract import Ending, Outcome
from topiccrawl.model import Lease
from topiccrawl.storage.pages import Pages
from topiccrawl.storage.sqlite import SqliteStorage

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    import pytest

    from topiccrawl.storage.pages import Change, PageState

URL, HUB = "http://a.test/1", "http://a.test/"
LEASE = Lease(URL, b"1", 1)
HUB_LEASE = Lease(HUB, b"2", 2)
CRAWLED = Outcome(Ending.CRAWLED)
MISSING = Outcome(Ending.ERROR, "http-404")
ARTICLE = VisitResult(10.0, etag='"1"', digest="one", found_on=HUB)


class Away(Pages):
    """A store that may be away."""

    away = False

    @override
    async def get(self, owner: str, urls: Sequence[str]) -> dict[str, PageState]:
        if self.away:
            raise StorageAwayError("away")
        return await super().get(owner, urls)


class Book:
    """A ``VisitTracker`` on a store, and what it told."""

    def __init__(self, folder: Path) -> None:
        self.pages = Away(SqliteStorage(folder))
        self.counts: Counter[str] = Counter()
        self.events: list[Change] = []
        self.kept: list[str] = []
        self.moved: list[str] = []
        self.visited = VisitTracker(
            PageStates("足球", UniformRevisits()),
            PageBuffer(self.pages, age=0.0),
            lambda name: self.counts.update([name]),
            self.events.append,
        )
        self.visited.on_written = lambda state: self.kept.append(state.url)
        self.visited.on_rescheduled = lambda state: self.moved.append(state.url)

    async def visit(
        self, seen: VisitResult, outcome: Outcome = CRAWLED, lease: Lease = LEASE
    ) -> None:
        known = await self.visited.load_state(lease.url)
        self.visited.record(lease, known, seen)
        await self.visited.page_done(lease)
        self.visited.settled(lease, outcome)


def run(folder: Path, work: Callable[[Book], Awaitable[None]]) -> Book:
    async def whole() -> None:
        await book.pages.open()
        try:
            await work(book)
        finally:
            await book.visited.close()

    book = Book(folder)
    asyncio.run(whole())
    return book


def test_a_state_has_validators_only_when_the_frontier_is_durable(tmp_path: Path) -> None:
    async def work(book: Book) -> None:
        await book.visit(ARTICLE)
        written = (await book.pages.get("足球", [URL]))[URL]
        assert (written.etag, written.digest) == ("", "")
        assert written.due > 0
        assert book.visited.is_pending(URL)

    async def look(book: Book) -> None:
        written = (await book.pages.get("足球", [URL]))[URL]
        assert (written.etag, written.digest) == ('"1"', "one")
        hub = (await book.pages.get("足球", [HUB]))[HUB]
        assert hub.role == "hub"

    book = run(tmp_path, work)
    assert [(one.event, one.found_on) for one in book.events] == [("new", HUB)]
    run(tmp_path, look)


def test_what_was_not_settled_is_not_written_whole(tmp_path: Path) -> None:
    async def work(book: Book) -> None:
        await book.visit(ARTICLE, Outcome(Ending.RELEASED))

    async def look(book: Book) -> None:
        assert (await book.pages.get("足球", [URL]))[URL].etag == ""

    assert run(tmp_path, work).events == []
    run(tmp_path, look)


def test_two_losses_are_one_event_and_what_is_back_is_another(tmp_path: Path) -> None:
    async def first(book: Book) -> None:
        await book.visit(ARTICLE)

    async def lose(book: Book) -> None:
        book.visited.settled(LEASE, MISSING)

    async def back(book: Book) -> None:
        await book.visit(VisitResult(30.0, digest="two"))

    run(tmp_path, first)
    assert run(tmp_path, lose).events == []
    assert [one.event for one in run(tmp_path, lose).events] == ["gone"]
    assert [one.event for one in run(tmp_path, back).events] == ["changed"]


def test_a_state_that_the_store_refuses_is_told_of_and_holds_nothing_up(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def noted() -> bool:
        with closing(sqlite3.connect(tmp_path / "store.sqlite")) as other:
            return bool(other.execute("SELECT count(*) FROM pages").fetchone()[0])

    async def refused(book: Book) -> None:
        await book.visit(ARTICLE)
        await soon(noted)  # its first state is written; the whole one is refused
        with closing(sqlite3.connect(tmp_path / "store.sqlite")) as other:
            other.execute(
                "CREATE TRIGGER no BEFORE INSERT ON pages BEGIN SELECT RAISE(ABORT, 'full'); END"
            )

    book = run(tmp_path, refused)
    assert book.kept == [URL]
    assert book.events == []
    assert "A visit was not recorded" in caplog.text


def test_credit_that_comes_together_and_with_a_visit_is_counted_once_each(tmp_path: Path) -> None:
    async def first(book: Book) -> None:
        await book.visit(VisitResult(1.0, hub=True, etag='"1"'), lease=HUB_LEASE)

    async def again(book: Book) -> None:
        await book.visit(VisitResult(2.0, hub=True, etag='"2"'), lease=HUB_LEASE)

    async def together(book: Book) -> None:
        credit = [book.visited.credit(HUB, ARTICLE) for _ in range(9)]
        visit = book.visit(VisitResult(20.0, hub=True, etag='"3"'), lease=HUB_LEASE)
        await asyncio.gather(*credit[:5], visit, *credit[5:])

    async def look(book: Book) -> None:
        hub = (await book.pages.get("足球", [HUB]))[HUB]
        visits = hub.more["visits"]
        assert (visits["gains"], visits["visits"], hub.etag) == (9.0, 3, '"3"')

    run(tmp_path, first)
    run(tmp_path, again)
    book = run(tmp_path, together)
    assert book.kept == [HUB]  # credit is no visit
    assert set(book.moved) == {HUB}
    run(tmp_path, look)


def test_a_page_that_is_asked_for_while_the_store_is_away_is_compared_when_it_is_back(
    tmp_path: Path,
) -> None:
    async def first(book: Book) -> None:
        await book.visit(ARTICLE)

    async def away(book: Book) -> None:
        book.pages.away = True
        assert await book.visited.load_state(URL) is None
        book.visited.record(LEASE, None, VisitResult(30.0, digest="two"))
        done = asyncio.create_task(book.visited.page_done(LEASE))
        await asyncio.sleep(0)
        book.pages.away = False
        await done
        book.visited.settled(LEASE, CRAWLED)

    async def look(book: Book) -> None:
        state = (await book.pages.get("足球", [URL]))[URL]
        assert (state.first_seen, state.changed_at) == (10.0, 30.0)

    run(tmp_path, first)
    assert [one.event for one in run(tmp_path, away).events] == ["changed"]
    run(tmp_path, look)


def test_a_crawl_that_ends_does_not_wait_for_a_store_that_is_away(tmp_path: Path) -> None:
    async def away(book: Book) -> None:
        book.pages.away = True
        book.visited.settled(LEASE, MISSING)

    assert run(tmp_path, away).kept == []
