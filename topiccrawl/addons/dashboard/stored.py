"""Stored data of a topic for the page: articles, chains, changes, and contributed sections."""

from __future__ import annotations

import asyncio
import time
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from topiccrawl.scheduler.hooks import components
from topiccrawl.storage.changes import ChangeLog, TopicChange
from topiccrawl.storage.factory import storage_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from topiccrawl.storage.listing import Listed
    from topiccrawl.storage.status import State

CHAINS = 8
"""Stories whose reprints are shown."""
CHANGES = 30
"""Changes of a topic that are shown, the last ones."""
REPRINTS = 12
"""Reprints of a story that are shown."""
KEPT = 5.0
"""Minimum of seconds that a result is cached."""
RARE = 100.0
"""Factor: a result is cached this many times longer than the query took."""
TERMS = 8
"""Terms of a change that are shown."""
LEARNT = 24
"""Learnt terms that are shown."""


class Stored:
    """Reads what crawls stored, without changes.

    Args:
        settings: Name the stores, and the sections of TOPICCRAWL_DASHBOARD_SECTIONS.
        crawler: The running crawl; None for what is stored alone.

    Attributes:
        settings: As given.

    Raises:
        SettingError: A section cannot be loaded.
    """

    def __init__(self, settings: BaseSettings, crawler: Crawler | None = None) -> None:
        self.settings = settings
        self._crawler = crawler
        self._storage = storage_of(settings)
        self._listing = self._storage.listing()
        self._sections = components(settings, "TOPICCRAWL_DASHBOARD_SECTIONS")
        self._last: dict[tuple[str, str], tuple[float, State]] = {}
        self._turn = asyncio.Lock()

    async def articles(self, topic: str, offset: int, limit: int) -> tuple[int, list[Listed]]:
        """Return the number of stored articles, and a part of them, those stored last first.

        Raises:
            StorageError: They cannot be read.
        """
        return await self._listing.page(topic, limit, offset)

    async def more(self, topic: str, frontier: str) -> State:
        """Return chains, changes and contributed sections, read at most every ``KEPT`` seconds.

        Concurrent callers share one query, and slow queries are cached longer.
        """
        async with self._turn:
            began = time.monotonic()
            due, found = self._last.get((topic, frontier), (0.0, {}))
            if began >= due:
                found = await self._look(topic, frontier)
                now = time.monotonic()
                self._last[topic, frontier] = (now + max(KEPT, RARE * (now - began)), found)
            return found

    async def close(self) -> None:
        """Release what is held."""
        await self._listing.close()

    async def _look(self, topic: str, frontier: str) -> State:
        chains = await self._listing.chains(topic, CHAINS)
        log = ChangeLog(self._storage)
        changes = await asyncio.to_thread(log.all, topic, frontier)
        contributed: State = {}
        for section in self._sections:
            contributed |= await section(self.settings, self._crawler)
        return {
            **contributed,
            "chains": [
                {
                    "article": chain.article._asdict(),
                    "reprints": [one._asdict() for one in chain.reprints[:REPRINTS]],
                    "reprinted": len(chain.reprints),
                }
                for chain in chains
            ],
            "changes": changes_shown(changes),
            "learnt": learnt(changes),
        }


def changes_shown(changes: Sequence[TopicChange]) -> list[dict[str, Any]]:
    """Each of the last changes: number, when, why, what came and what went, the newest first."""
    before = [changes[0].own if changes else {}, *(change.terms for change in changes)]
    found = [
        {
            "number": change.number,
            "at": change.at,
            "pages": change.pages,
            "reason": change.reason,
            "came": _foremost({term: w for term, w in new.items() if term not in old}),
            "went": [term for term in old if term not in new][:TERMS],
        }
        for change, (old, new) in zip(changes, pairwise(before), strict=True)
    ]
    return found[-CHANGES:][::-1]


def learnt(changes: Sequence[TopicChange]) -> list[list[Any]]:
    """The terms that the last change has besides the user's own, with weights, foremost first."""
    if not changes:
        return []
    last = changes[-1]
    terms = {term: weight for term, weight in last.terms.items() if term not in last.own}
    return [[term, round(terms[term], 4)] for term in _foremost(terms, LEARNT)]


def _foremost(terms: Mapping[str, float], most: int = TERMS) -> list[str]:
    """Terms with a positive weight, in stored order, which is the order of their evidence."""
    return [term for term, weight in terms.items() if weight > 0][:most]
