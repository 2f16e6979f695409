"""Tests of settling pages after their output and all of their items, in any order."""

from __future__ import annotations

import asyncio
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.utils.defer import ensure_awaitable
from scrapy.utils.test import get_crawler

from topiccrawl.errors import StorageError
from topiccrawl.frontier.contract import Ending, Limits, Outcome, Politeness, Seed
from topiccrawl.frontier.embedded import EmbeddedFrontier
from topiccrawl.links.strategies import FirstCome
from topiccrawl.model import Findings, Lease, Offer
from topiccrawl.scheduler import leases
from topiccrawl.scheduler.finish import FAILURE
from topiccrawl.scheduler.leases import LeaseBook, Retry
from topiccrawl.scheduler.scheduler import FrontierScheduler

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from topiccrawl.frontier.contract import Frontier

URL = "http://a.test/1"
POLITENESS = Politeness(delay=0, adaptive=False, robots=False, concurrency=9)


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(name="frontier")
def _frontier(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Frontier]:
    path = tmp_path_factory.mktemp("frontier")
    frontier = EmbeddedFrontier(path, FirstCome(), POLITENESS, Limits(), clock=Clock())
    frontier.push([Seed(URL)])
    yield frontier
    frontier.close()


def queue_of(frontier: Frontier, url: str = URL) -> str:
    found = frontier.why(url)
    return found.queue if found else "unknown"


def test_linked_pages_are_guesses_until_settled_or_slow(frontier: Frontier) -> None:
    clock = Clock()
    book = LeaseBook(frontier, Retry(), clock)
    for number, evidence in enumerate([(), (0.5,), (0.5,)]):
        book.add(Lease(f"http://a.test/{number}", bytes([number]), number, evidence=evidence))
    assert book.guesses(3.0) == 2  # a start URL has no evidence
    book.settle(1, Outcome(Ending.CRAWLED))
    assert book.guesses(3.0) == 1
    clock.now += 3.0
    assert book.guesses(3.0) == 0


def test_page_is_settled_after_its_last_item(frontier: Frontier) -> None:
    book = LeaseBook(frontier, Retry(), Clock())
    token = book.add(frontier.pop()[0])
    book.add_findings(token, Findings(0.5, (Offer("http://a.test/2", 0, ()),)))
    book.item_sent(token)
    book.item_sent(token)
    book.output_ended(token)
    book.item_returned(token)
    assert (queue_of(frontier), queue_of(frontier, "http://a.test/2")) == ("leased", "unknown")
    book.item_returned(token)
    assert (queue_of(frontier), queue_of(frontier, "http://a.test/2")) == ("crawled", "prior")
    assert len(book) == 0


def test_abandoned_leases_are_settled_or_returned(frontier: Frontier) -> None:
    frontier.push([Seed("http://a.test/2")])
    book = LeaseBook(frontier, Retry(), Clock())
    ended, replaced = (book.add(lease) for lease in frontier.pop(2))
    book.item_sent(ended)
    book.output_ended(ended)
    left = book.lease(replaced)
    assert (book.abandoned(), len(book)) == ([left], 1)
    assert queue_of(frontier) == "crawled"


def test_lease_is_fetching_until_the_spider_has_its_response(frontier: Frontier) -> None:
    book = LeaseBook(frontier, Retry(), Clock())
    number = book.add(frontier.pop()[0])
    states = [book.is_fetching(number)]
    book.fetched(number)
    states.append(book.is_fetching(number))
    book.failed(number, "http-404")
    assert [*states, book.is_fetching(number)] == [True, False, False]


def test_outcome_of_a_page_has_its_findings(frontier: Frontier) -> None:
    settled: list[tuple[Lease, Outcome]] = []
    book = LeaseBook(frontier, Retry(), Clock(), lambda *ended: settled.append(ended))
    token = book.add(frontier.pop()[0])
    book.add_findings(token, Findings(0.5, worth=0.75, harvest=True, kind="hub", paged=True))
    book.output_ended(token)
    outcome = Outcome(Ending.CRAWLED, "hub", 0.5, 0.75, harvest=True, paged=True)
    assert [ended[1] for ended in settled] == [outcome]


def test_failed_item_defers_the_page_and_keeps_its_links(frontier: Frontier) -> None:
    book = LeaseBook(frontier, Retry(10), Clock())
    token = book.add(frontier.pop()[0])
    book.add_findings(token, Findings(0.5, (Offer("http://a.test/2", 0, ()),)))
    book.item_sent(token)
    book.item_returned(token, "item-error")
    assert queue_of(frontier) == "leased"
    book.output_ended(token)
    assert queue_of(frontier) == "prior"
    assert [lease.url for lease in frontier.pop(9)] == ["http://a.test/2"]


def test_released_leases_do_not_count_as_attempts(frontier: Frontier) -> None:
    book = LeaseBook(frontier, Retry(), Clock())
    for _ in range(9):
        book.add(frontier.pop()[0])
        book.release()
    (lease,) = frontier.pop()
    assert lease.attempts == 0


def test_unknown_and_settled_leases_are_ignored(frontier: Frontier) -> None:
    settled: list[tuple[Lease, Outcome]] = []
    book = LeaseBook(frontier, Retry(), Clock(), lambda *ended: settled.append(ended))
    token = book.add(frontier.pop()[0])
    book.failed(token, "http-404")
    for late in (token, 0, 99):
        book.add_findings(late, Findings(1.0))
        book.item_sent(late)
        book.item_returned(late)
        book.output_ended(late)
        book.retry_later(late, "again")
        book.failed(late, "other")
    found = frontier.why(URL)
    assert found is not None
    assert (found.queue, found.reason, len(settled)) == ("error", "http-404", 1)


@given(st.permutations(["out", "back", "out", "back", "end"]))
def test_page_is_settled_once_in_any_order_of_events(order: list[str]) -> None:
    class Counting:
        finished = 0

        def finish(self, *_: object) -> bool:
            self.finished += 1
            return True

    counting = Counting()
    book = LeaseBook(counting, Retry(), Clock())  # type: ignore[arg-type]  # only finish is called
    token = book.add(Lease(URL, b"", 1))
    out = back = 0
    for step in order:
        if step == "out":
            book.item_sent(token)
            out += 1
        elif step == "back" and back < out:
            book.item_returned(token)
            back += 1
        elif step == "end":
            book.output_ended(token)
    for _ in range(out - back):
        book.item_returned(token)
    assert counting.finished == 1


def test_write_error_is_raised_only_without_on_failure(
    tmp_path: Path,
) -> None:
    broken: list[StorageError] = []
    frontier = EmbeddedFrontier(tmp_path, FirstCome(), POLITENESS, Limits())
    frontier.push([Seed(URL), Seed(f"{URL}/2")])
    book = LeaseBook(frontier, Retry(), Clock(), on_failure=broken.append)
    tokens = [book.add(lease) for lease in frontier.pop(2)]
    frontier.fail(OSError("no room"))
    book.output_ended(tokens[0])
    book.release()
    book.extend()
    assert len(broken) >= 2
    assert len(book) == 0
    with pytest.raises(StorageError):
        LeaseBook(frontier, Retry(), Clock()).extend()
    frontier.close()


def test_close_on_a_full_disk_records_a_storage_error(tmp_path: Path) -> None:
    async def close() -> object:  # Scrapy's timers want a running loop
        crawler = get_crawler(settings_dict={"TELNETCONSOLE_ENABLED": False})
        scheduler = FrontierScheduler(crawler)
        frontier = EmbeddedFrontier(tmp_path, FirstCome(), POLITENESS, Limits())
        scheduler.frontier = frontier
        scheduler.book = LeaseBook(frontier, Retry(), Clock(), on_failure=scheduler.end_crawl)
        frontier.push([Seed(URL)])
        scheduler.book.add(frontier.pop()[0])
        scheduler.context.opened = True
        frontier.fail(OSError("no room"))
        scheduler.close("shutdown")
        return scheduler.stats.get_value(FAILURE)

    assert asyncio.run(close()) == "storage_error"


@pytest.mark.parametrize(("seconds", "queue"), [(10.0, "crawled"), (0.0, "prior")])
def test_close_waits_for_settlements_in_progress_but_not_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float, queue: str
) -> None:
    monkeypatch.setattr(leases, "SETTLING_SECONDS", seconds)
    written: list[str] = []

    async def write_state(lease: Lease) -> None:
        await asyncio.sleep(0.01)
        written.append(lease.url)

    async def close() -> None:
        scheduler = FrontierScheduler(get_crawler(settings_dict={"TELNETCONSOLE_ENABLED": False}))
        scheduler.frontier = frontier = EmbeddedFrontier(
            tmp_path, FirstCome(), POLITENESS, Limits()
        )
        scheduler.book = book = LeaseBook(frontier, Retry(), Clock(), before_settling=write_state)
        frontier.push([Seed(URL)])
        book.output_ended(book.add(frontier.pop()[0]))
        scheduler.context.opened = True
        await ensure_awaitable(scheduler.close("shutdown"))
        await asyncio.sleep(0.02)

    asyncio.run(close())
    with closing(EmbeddedFrontier(tmp_path, FirstCome(), POLITENESS, Limits())) as reopened:
        assert queue_of(reopened) == queue
    assert bool(written) == (queue == "crawled"), "nothing is written after the end"
