"""Tests of the adoption of an unwatched crawl by the watch, also after a kill."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from tests.unit.storage.writers import article
from topiccrawl.addons.watch import pagestates
from topiccrawl.addons.watch.pagestates import PageStates
from topiccrawl.addons.watch.policies import UniformRevisits
from topiccrawl.frontier.contract import Ending, Limits, Outcome, Politeness, Seed
from topiccrawl.frontier.embedded import EmbeddedFrontier
from topiccrawl.links.strategies import FirstCome
from topiccrawl.model import Offer
from topiccrawl.storage.pages import Pages, Role
from topiccrawl.storage.sqlite import SqliteStorage, SqliteStore

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from topiccrawl.storage.pages import PageState

HUB, COUNT, NOW = "http://a.test/", 7, 9_000.0
POLITENESS = Politeness(delay=0, adaptive=False, robots=False, concurrency=9)


async def adopt_twice(folder: Path) -> dict[str, PageState]:
    """Adopt a crawl with articles found on ``HUB`` twice; return the page states by URL."""
    store, pages = SqliteStore(folder), Pages(SqliteStorage(folder))
    await store.open()
    await pages.open()
    frontier = EmbeddedFrontier(folder / "frontier", FirstCome(), POLITENESS, Limits())
    try:
        frontier.push([Seed(HUB)])
        links = tuple(Offer(f"http://a.test/{n}", 0, ()) for n in range(COUNT))
        frontier.finish(frontier.pop()[0], Outcome(Ending.CRAWLED, relevance=0.5), links)
        await store.save([replace(article("a", n), fetched_at=100.0) for n in range(COUNT + 1)])
        ledger = PageStates("a", UniformRevisits())
        await pagestates.adopt(frontier, store, ledger, pages, NOW)
        first = await pages.due("a", 1e12)
        await pages.save([replace(first[0], etag='"1"')])
        await pagestates.adopt(frontier, store, ledger, pages, NOW + 1)
        assert (await pages.get("a", [first[0].url]))[first[0].url].etag == '"1"'
        return {state.url: state for state in await pages.due("a", 1e12)}
    finally:
        frontier.close()
        await pages.close()
        await store.close()


def test_stored_articles_and_their_hubs_are_adopted_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pagestates, "BATCH", 3)
    states = asyncio.run(adopt_twice(tmp_path))
    assert states.keys() == {
        HUB,
        *(f"http://a.test/{n}" for n in range(COUNT)),
    }  # only URLs recorded in the frontier
    hub = states.pop(HUB)
    assert (hub.role, hub.first_seen) == (Role.HUB, NOW)
    assert {(s.role, s.first_seen, s.digest) for s in states.values()} == {(Role.DETAIL, 100.0, "")}
