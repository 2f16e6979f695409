"""Tests of the visit tracker: its records, their order, and no loss of links by a kill."""

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


class UnavailablePages(Pages):
    """Page store that may be unavailable."""

    away = False

    @override
    async def get(self, owner: str, urls: Sequence[str]) -> dict[str, PageState]:
        if self.away:
            raise StorageAwayError("away")
        return await super().get(owner, urls)


class TrackerFixture:
    """A ``VisitTracker`` on a store, with its counts, events and callbacks recorded."""

    def __init__(self, folder: Path) -> None:
        self.pages = UnavailablePages(SqliteStorage(folder))
        self.counts: Counter[str] = Counter()
        self.events: list[Change] = []
        self.written: list[str] = []
        self.rescheduled: list[str] = []
        self.visits = VisitTracker(
            PageStates("足球", UniformRevisits()),
            PageBuffer(self.pages),
            lambda name: self.counts.update([name]),
            self.events.append,
        )
        self.visits.on_written = lambda state: self.written.append(state.url)
        self.visits.on_rescheduled = lambda state: self.rescheduled.append(state.url)

    async def visit(
        self, seen: VisitResult, outcome: Outcome = CRAWLED, lease: Lease = LEASE
    ) -> None:
        await self.visits.load_state(lease.url)
        self.visits.visit(lease.url).seen = seen
        await self.visits.page_done(lease)
        self.visits.settled(lease, outcome)


def run(folder: Path, work: Callable[[TrackerFixture], Awaitable[None]]) -> TrackerFixture:
    async def whole() -> None:
        await tracker.pages.open()
        try:
            await work(tracker)
        finally:
            await tracker.visits.close()

    tracker = TrackerFixture(folder)
    asyncio.run(whole())
    return tracker


def test_validators_are_stored_after_the_frontier_commit(tmp_path: Path) -> None:
    async def work(tracker: TrackerFixture) -> None:
        await tracker.visit(ARTICLE)
        written = (await tracker.pages.get("足球", [URL]))[URL]
        assert (written.etag, written.digest) == ("", "")
        assert written.due > 0
        assert tracker.visits.is_pending(URL)

    async def check(tracker: TrackerFixture) -> None:
        written = (await tracker.pages.get("足球", [URL]))[URL]
        assert (written.etag, written.digest) == ('"1"', "one")
        hub = (await tracker.pages.get("足球", [HUB]))[HUB]
        assert hub.role == "hub"

    tracker = run(tmp_path, work)
    assert [(one.event, one.found_on) for one in tracker.events] == [("new", HUB)]
    run(tmp_path, check)


def test_state_of_a_released_page_has_no_validators(tmp_path: Path) -> None:
    async def work(tracker: TrackerFixture) -> None:
        await tracker.visit(ARTICLE, Outcome(Ending.RELEASED))

    async def check(tracker: TrackerFixture) -> None:
        assert (await tracker.pages.get("足球", [URL]))[URL].etag == ""

    assert run(tmp_path, work).events == []
    run(tmp_path, check)


def test_two_failures_are_one_event_and_the_return_another(tmp_path: Path) -> None:
    async def first(tracker: TrackerFixture) -> None:
        await tracker.visit(ARTICLE)

    async def lose(tracker: TrackerFixture) -> None:
        tracker.visits.settled(LEASE, MISSING)

    async def back(tracker: TrackerFixture) -> None:
        await tracker.visit(VisitResult(30.0, digest="two"))

    run(tmp_path, first)
    assert run(tmp_path, lose).events == []
    assert [one.event for one in run(tmp_path, lose).events] == ["gone"]
    assert [one.event for one in run(tmp_path, back).events] == ["changed"]


def test_two_visits_within_a_moment_are_both_written(tmp_path: Path) -> None:
    async def twice(tracker: TrackerFixture) -> None:
        await tracker.visit(ARTICLE)
        await tracker.visit(VisitResult(11.0, etag='"2"', digest="two"))

    async def check(tracker: TrackerFixture) -> None:
        state = (await tracker.pages.get("足球", [URL]))[URL]
        assert (state.etag, state.digest, state.changed_at) == ('"2"', "two", 11.0)
        hub = (await tracker.pages.get("足球", [HUB]))[HUB]
        assert hub.role == "hub"

    tracker = run(tmp_path, twice)
    assert [one.event for one in tracker.events] == ["new", "changed"]
    run(tmp_path, check)


def test_failure_within_a_moment_after_a_visit_keeps_both(tmp_path: Path) -> None:
    async def fail(tracker: TrackerFixture) -> None:
        await tracker.visit(ARTICLE)
        tracker.visits.settled(LEASE, MISSING)

    async def check(tracker: TrackerFixture) -> None:
        state = (await tracker.pages.get("足球", [URL]))[URL]
        assert (state.etag, state.misses) == ('"1"', 1)

    assert [one.event for one in run(tmp_path, fail).events] == ["new"]
    run(tmp_path, check)


def test_rejected_state_is_logged_and_delays_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def is_first_state_written() -> bool:
        with closing(sqlite3.connect(tmp_path / "store.sqlite")) as other:
            return bool(other.execute("SELECT count(*) FROM pages").fetchone()[0])

    async def refused(tracker: TrackerFixture) -> None:
        await tracker.visit(ARTICLE)
        await soon(is_first_state_written)  # its first state is written; the whole one is refused
        with closing(sqlite3.connect(tmp_path / "store.sqlite")) as other:
            other.execute(
                "CREATE TRIGGER no BEFORE INSERT ON pages BEGIN SELECT RAISE(ABORT, 'full'); END"
            )

    tracker = run(tmp_path, refused)
    assert tracker.written == [URL]
    assert tracker.events == []
    assert "A visit was not recorded" in caplog.text


def test_concurrent_credits_and_a_visit_count_once_each(tmp_path: Path) -> None:
    async def first(tracker: TrackerFixture) -> None:
        await tracker.visit(VisitResult(1.0, hub=True, etag='"1"'), lease=HUB_LEASE)

    async def again(tracker: TrackerFixture) -> None:
        await tracker.visit(VisitResult(2.0, hub=True, etag='"2"'), lease=HUB_LEASE)

    async def together(tracker: TrackerFixture) -> None:
        credit = [tracker.visits.credit(HUB, ARTICLE) for _ in range(9)]
        visit = tracker.visit(VisitResult(20.0, hub=True, etag='"3"'), lease=HUB_LEASE)
        await asyncio.gather(*credit[:5], visit, *credit[5:])

    async def check(tracker: TrackerFixture) -> None:
        hub = (await tracker.pages.get("足球", [HUB]))[HUB]
        visits = hub.more["visits"]
        assert (visits["gains"], visits["visits"], hub.etag) == (9.0, 3, '"3"')

    run(tmp_path, first)
    run(tmp_path, again)
    tracker = run(tmp_path, together)
    assert tracker.written == [HUB]  # credit is no visit
    assert set(tracker.rescheduled) == {HUB}
    run(tmp_path, check)


def test_page_is_compared_when_the_store_is_back(
    tmp_path: Path,
) -> None:
    async def first(tracker: TrackerFixture) -> None:
        await tracker.visit(ARTICLE)

    async def away(tracker: TrackerFixture) -> None:
        tracker.pages.away = True
        assert await tracker.visits.load_state(URL) is None
        tracker.visits.visit(URL).seen = VisitResult(30.0, digest="two")
        done = asyncio.create_task(tracker.visits.page_done(LEASE))
        await asyncio.sleep(0)
        tracker.pages.away = False
        await done
        tracker.visits.settled(LEASE, CRAWLED)

    async def check(tracker: TrackerFixture) -> None:
        state = (await tracker.pages.get("足球", [URL]))[URL]
        assert (state.first_seen, state.changed_at) == (10.0, 30.0)

    run(tmp_path, first)
    assert [one.event for one in run(tmp_path, away).events] == ["changed"]
    run(tmp_path, check)


def test_closing_does_not_wait_for_an_unavailable_store(tmp_path: Path) -> None:
    async def away(tracker: TrackerFixture) -> None:
        tracker.pages.away = True
        tracker.visits.settled(LEASE, MISSING)

    assert run(tmp_path, away).written == []
