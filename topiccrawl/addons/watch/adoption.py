"""Adoption of unwatched crawls: stored articles, and the pages that they were found on."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from topiccrawl.addons.watch.ledger import Seen
from topiccrawl.storage.choice import storage_of
from topiccrawl.storage.selection import Selection

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from topiccrawl.addons.watch.ledger import Ledger
    from topiccrawl.frontier.contract import Frontier
    from topiccrawl.storage.contract import ArticleStore
    from topiccrawl.storage.pages import Pages, PageState

GROUP = 500
"""States written in one transaction."""


async def take_over(
    settings: BaseSettings, frontier: Frontier, ledger: Ledger, pages: Pages
) -> None:
    """Run ``adopt`` with the store that the settings name."""
    store = storage_of(settings).articles()
    await store.open()
    try:
        await adopt(frontier, store, ledger, pages, time.time())
    finally:
        await store.close()


async def adopt(
    frontier: Frontier, store: ArticleStore, ledger: Ledger, pages: Pages, now: float
) -> None:
    """Give the owner's stored articles a state; their texts are compared from the next visit on.

    Existing states are kept. Hubs are written last: a run that finds no hub adopts again, so a
    kill is harmless.

    Args:
        frontier: Records where articles were found; articles missing there are left out.
        store: Store of the articles.
        ledger: Of the owner.
        pages: Store of the states; open.
        now: Seconds since the epoch.

    Raises:
        StorageError: Something could not be read or written.
    """
    hubs: dict[str, PageState] = {}
    group: list[PageState] = []
    async for article in store.select(Selection(ledger.owner)):
        known = frontier.why(article.url)
        state = ledger.first(article.url, Seen(article.fetched_at, digest="unknown"))
        if known is None or state is None:
            continue
        group.append(replace(state, digest=""))
        hub = known.path[-2] if len(known.path) > 1 else ""
        first = ledger.first(hub, Seen(now, hub=True)) if hub and hub not in hubs else None
        if first is not None:
            hubs[hub] = first
        if len(group) >= GROUP:
            await _save(pages, ledger.owner, group)
            group = []
    await _save(pages, ledger.owner, [*group, *hubs.values()])


async def _save(pages: Pages, owner: str, states: list[PageState]) -> None:
    known = await pages.get(owner, [state.url for state in states])
    await pages.save([state for state in states if state.url not in known])
