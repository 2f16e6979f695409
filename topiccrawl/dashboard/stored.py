"""What is stored of a topic, for a page: articles, chains, how the topic changed, URL patterns."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topiccrawl.news.patterns.learner import DROPS_KEY, KEY
from topiccrawl.news.patterns.site import SiteLearner
from topiccrawl.stores.choice import changes_of, listing_of, mongodb_uri, sites_of
from topiccrawl.stores.database import FILE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from topiccrawl.dashboard.source import State
    from topiccrawl.stores.changes import TopicChange
    from topiccrawl.stores.listing import Listed

CHAINS = 8
"""Stories whose reprints are shown."""
CHANGES = 30
"""Changes of a topic that are shown, the last ones."""
SITES = 12
"""Sites whose patterns are shown, those with most judged pages."""
LOOKED_AT = 300
"""Sites that are looked at for it."""
PATTERNS = 6
"""Patterns of a site that are shown."""
TERMS = 8
"""Terms of a change that are shown."""
LEARNT = 24
"""Learnt terms that are shown."""


class Stored:
    """Reads what crawls stored; nothing is changed.

    Args:
        settings: Say where.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = settings
        self._listing = listing_of(settings)

    async def articles(self, topic: str, offset: int, limit: int) -> tuple[int, list[Listed]]:
        """How many articles are stored, and some of them, those stored last first.

        Raises:
            StorageError: They cannot be read.
        """
        return await self._listing.page(topic, limit, offset)

    async def more(self, topic: str, frontier: str) -> State:
        """Chains, changes and patterns; see ``source``."""
        chains = await self._listing.chains(topic, CHAINS)
        log = changes_of(self._settings)
        changes = await asyncio.to_thread(log.all, topic, frontier)
        return {
            "chains": [
                {
                    "article": chain.article._asdict(),
                    "reprints": [one._asdict() for one in chain.reprints],
                }
                for chain in chains
            ],
            "changes": changes_shown(changes),
            "learnt": learnt(changes),
            "patterns": await self._patterns(),
        }

    async def close(self) -> None:
        """Release what is held."""
        await self._listing.close()

    async def _patterns(self) -> list[dict[str, Any]]:
        folder = self._settings["TOPICCRAWL_DATA_DIR"]
        if not mongodb_uri(self._settings) and not (Path(folder) / FILE).exists():
            return []
        knowledge = sites_of(self._settings)
        await knowledge.open()
        try:
            sites = (await knowledge.sites(KEY))[:LOOKED_AT]
            found = [_site(site, await knowledge.get(site)) for site in sites]
        finally:
            await knowledge.close()
        return sorted(found, key=lambda one: -one["pages"])[:SITES]


def changes_shown(changes: Sequence[TopicChange]) -> list[dict[str, Any]]:
    """Each of the last changes: number, when, why, what came and what went, the newest first."""
    before = [changes[0].own if changes else {}, *(change.terms for change in changes)]
    found = [
        {
            "number": change.number,
            "at": change.at,
            "pages": change.pages,
            "reason": change.reason,
            "came": _heaviest({term: w for term, w in new.items() if term not in old}),
            "went": [term for term in old if term not in new][:TERMS],
        }
        for change, (old, new) in zip(changes, pairwise(before), strict=True)
    ]
    return found[-CHANGES:][::-1]


def learnt(changes: Sequence[TopicChange]) -> list[list[Any]]:
    """The terms that the last change has besides the user's own, with weights, heaviest first."""
    if not changes:
        return []
    last = changes[-1]
    terms = {term: weight for term, weight in last.terms.items() if term not in last.own}
    return [[term, round(terms[term], 4)] for term in _heaviest(terms, LEARNT)]


def _heaviest(terms: Mapping[str, float], most: int = TERMS) -> list[str]:
    return sorted(terms, key=lambda term: -terms[term])[:most]


def _site(site: str, known: Mapping[str, Any]) -> dict[str, Any]:
    learner = SiteLearner.from_json(known.get(KEY, {}))
    patterns = sorted(learner.patterns.patterns, key=lambda pattern: -pattern.seen)
    return {
        "site": site,
        "ready": learner.ready,
        "pages": learner.pages,
        "dropped": sum(entry[0] for entry in known.get(DROPS_KEY, {}).values()),
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
