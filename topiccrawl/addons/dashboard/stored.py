"""Stored data of a topic for the page: articles, chains, changes of the topic, URL patterns."""

from __future__ import annotations

import asyncio
import time
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from topiccrawl.addons.url_patterns.learner import DROPS_KEY, KEY
from topiccrawl.addons.url_patterns.site import SiteLearner
from topiccrawl.storage.changes import ChangeLog
from topiccrawl.storage.choice import storage_of
from topiccrawl.storage.sites import Sites

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from topiccrawl.storage.changes import TopicChange
    from topiccrawl.storage.listing import Listed
    from topiccrawl.storage.status import State

    Known = Mapping[str, tuple[SiteLearner, Mapping[str, Sequence[Any]]]]

CHAINS = 8
"""Stories whose reprints are shown."""
CHANGES = 30
"""Changes of a topic that are shown, the last ones."""
SITES = 12
"""Sites whose patterns are shown, those with most judged pages."""
LOOKED_AT = 100
"""Sites that are read to choose them, where patterns come from the store."""
REPRINTS = 12
"""Reprints of a story that are shown."""
KEPT = 5.0
"""Minimum of seconds that a result is cached."""
RARE = 100.0
"""Factor: a result is cached this many times longer than the query took."""
PATTERNS = 6
"""Patterns of a site that are shown."""
TERMS = 8
"""Terms of a change that are shown."""
LEARNT = 24
"""Learnt terms that are shown."""


class Stored:
    """Reads what crawls stored, without changes.

    Args:
        settings: Name the stores.
        patterns: Returns the learnt patterns of sites' URLs; None: they are read from the store.

    Attributes:
        settings: As given.
    """

    def __init__(
        self, settings: Mapping[str, Any], patterns: Callable[[], Known] | None = None
    ) -> None:
        self.settings = settings
        self._storage = storage_of(settings)
        self._listing = self._storage.listing()
        self._patterns = patterns
        self._last: dict[tuple[str, str], tuple[float, State]] = {}
        self._turn = asyncio.Lock()

    async def articles(self, topic: str, offset: int, limit: int) -> tuple[int, list[Listed]]:
        """Return the number of stored articles, and a part of them, those stored last first.

        Raises:
            StorageError: They cannot be read.
        """
        return await self._listing.page(topic, limit, offset)

    async def more(self, topic: str, frontier: str) -> State:
        """Chains, changes and patterns (see ``source``), looked up at most every ``KEPT`` seconds.

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
        known = self._patterns() if self._patterns is not None else await self._read()
        sites = sorted(known.items(), key=lambda one: -one[1][0].pages)[:SITES]
        return {
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
            "patterns": [_site(site, *one) for site, one in sites if one[0].pages],
        }

    async def _read(self) -> Known:
        async with Sites(self._storage) as knowledge:
            found: dict[str, tuple[SiteLearner, Mapping[str, Sequence[Any]]]] = {}
            for site in (await knowledge.sites(KEY))[:LOOKED_AT]:
                value = await knowledge.get(site)
                found[site] = SiteLearner.from_json(value.get(KEY, {})), value.get(DROPS_KEY, {})
            return found


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


def _site(site: str, learner: SiteLearner, drops: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    patterns = sorted(learner.patterns.patterns, key=lambda pattern: -pattern.seen)
    return {
        "site": site,
        "ready": learner.ready,
        "pages": learner.pages,
        "dropped": sum(entry[0] for entry in drops.values()),
        "patterns": [
            {
                "label": str(pattern.label),
                "expression": pattern.expression,
                "seen": pattern.seen,
                "articles": pattern.articles,
            }
            for pattern in patterns[:PATTERNS]
        ],
    }
