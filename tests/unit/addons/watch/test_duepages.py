"""Tests of due pages: they are queued again, also many at one moment."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from scrapy.utils.test import get_crawler

from topiccrawl.addons.watch import duepages
from topiccrawl.addons.watch.pagebuffer import PageBuffer
from topiccrawl.addons.watch.pagestates import PageStates, VisitResult, visits_of
from topiccrawl.addons.watch.policies import UniformRevisits
from topiccrawl.addons.watch.tracker import VisitTracker
from topiccrawl.frontier.contract import Ending, Limits, Outcome, Politeness, Seed
from topiccrawl.frontier.embedded import EmbeddedFrontier
from topiccrawl.links.strategies import FirstCome
from topiccrawl.scheduler.context import context_of
from topiccrawl.scheduler.leases import LeaseBook, Retry
from topiccrawl.storage.pages import Pages
from topiccrawl.storage.sqlite import SqliteStorage

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    import pytest

    from topiccrawl.storage.pages import PageState

URLS = [f"http://a.test/{n}" for n in range(11)]
POLITENESS = Politeness(delay=0, adaptive=False, robots=False, concurrency=99)


def frontier_after(
    folder: Path, seen: float, act: Callable[[VisitTracker], Awaitable[None]]
) -> EmbeddedFrontier:
    """Run ``act`` in a crawl whose pages, all hubs, were visited at ``seen``."""

    async def whole() -> None:
        pages = Pages(SqliteStorage(folder))
        await pages.open()
        ledger = PageStates("足球", UniformRevisits())
        states = [ledger.first_visit(url, VisitResult(seen, hub=True)) for url in URLS]
        await pages.save([state for state in states if state is not None])
        context = context_of(CRAWLER)
        context.frontier, context.opened = frontier, True
        context.book = LeaseBook(frontier, Retry(), time.time)
        none = [lambda _: None] * 2
        visited = VisitTracker(ledger, PageBuffer(pages), *none)
        await act(visited)
        await visited.close()
        await pages.close()

    frontier = EmbeddedFrontier(folder / "frontier", FirstCome(), POLITENESS, Limits())
    frontier.push(map(Seed, URLS))
    for lease in frontier.pop(len(URLS)):
        frontier.finish(lease, Outcome(Ending.CRAWLED, relevance=0.5))
    asyncio.run(whole())
    return frontier


CRAWLER = get_crawler()


def test_all_pages_due_at_one_moment_are_queued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duepages, "MAX_IN_FRONTIER", 4)

    async def requeue_due(visited: VisitTracker) -> None:
        due_pages = duepages.DuePages(context_of(CRAWLER), visited, lambda: None, once=False)
        for _ in range(3):
            await due_pages.requeue_due()
            for url in [url for url in URLS if due_pages.has_links_of(url)]:
                known = (await visited.pages.pages.get("足球", [url]))[url]
                state = visited.ledger.revisit(known, VisitResult(time.time()))
                await visited.pages.pages.save([state])
                due_pages.visit_written(state)

    frontier = frontier_after(tmp_path, 1_000.0, requeue_due)
    try:
        assert frontier.counts()["prior"] == len(URLS)
    finally:
        frontier.close()


def test_seeds_that_are_followed_do_not_delay_due_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duepages, "MAX_IN_FRONTIER", 4)
    seeds = [f"http://b.test/{n}" for n in range(5)]
    queued = list[int]()

    async def follow(visited: VisitTracker) -> None:
        context = context_of(CRAWLER)
        due_pages = duepages.DuePages(context, visited, lambda: None, once=False)
        await due_pages.requeue_due()
        for url in [url for url in URLS if due_pages.has_links_of(url)]:
            context.frontier.forget(url)
        context.frontier.push(map(Seed, seeds))
        due_pages.check_requeued()
        queued.append(context.frontier.counts()["prior"])
        due_pages.follow([*seeds, *URLS])  # some redirect to pages that are watched
        await due_pages.requeue_due()
        queued.append(context.frontier.counts()["prior"])

    frontier_after(tmp_path, 1_000.0, follow).close()
    assert queued == [len(seeds), len(seeds) + 4]


def test_failure_of_a_seed_without_a_lease_is_recorded_at_once(tmp_path: Path) -> None:
    seed = "http://b.test/"

    async def fail(visited: VisitTracker) -> None:
        context = context_of(CRAWLER)
        due_pages = duepages.DuePages(context, visited, lambda: None, once=False)
        due_pages.follow([seed])
        await due_pages.requeue_due()
        context.frontier.push([Seed(seed)])
        (lease,) = (one for one in context.frontier.pop(99) if one.url == seed)
        context.frontier.finish(lease, Outcome(Ending.ERROR, reason="robots-unavailable"))
        await due_pages.requeue_due()

    async def states() -> dict[str, PageState]:
        async with Pages(SqliteStorage(tmp_path)) as pages:
            return await pages.get("足球", [seed])

    frontier_after(tmp_path, 1_000.0, fail).close()
    assert asyncio.run(states())[seed].due > time.time()


def test_each_check_looks_at_few_of_many_unfetched_seeds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duepages, "SEEDS", 2)
    seeds = [f"http://b.test/{n}" for n in range(5)]
    looked_up = list[str]()

    async def check(visited: VisitTracker) -> None:
        context = context_of(CRAWLER)
        due_pages = duepages.DuePages(context, visited, lambda: None, once=False)
        await due_pages.requeue_due()
        due_pages.follow(seeds)
        monkeypatch.setattr(context.frontier, "why", looked_up.append)
        for _ in range(3):
            await due_pages.requeue_due()

    frontier_after(tmp_path, time.time(), check).close()
    assert looked_up == [*seeds, seeds[0]]


def test_visits_in_the_future_are_rescheduled_from_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duepages, "BATCH", 4)
    now, in_future = 1_000.0, list[str]()

    async def set_back(visited: VisitTracker) -> None:
        await duepages.reschedule_from(now, visited)
        states = await visited.pages.pages.get("足球", URLS)
        in_future.extend(url for url, state in states.items() if visits_of(state).visited_at > now)

    frontier_after(tmp_path, 90_000.0, set_back).close()
    assert in_future == []
