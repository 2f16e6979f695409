"""Data of crawls for the dashboard and reports: states, articles, reprint chains, topic changes."""

from __future__ import annotations

import asyncio
import time
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

from typing_extensions import override

from topiccrawl.addons.dashboard.merge import crawls, merged_state
from topiccrawl.scheduler.frontiers import frontiers_of
from topiccrawl.scheduler.hooks import components
from topiccrawl.storage.changes import ChangeLog, TopicChange
from topiccrawl.storage.factory import storage_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from topiccrawl.extensions.figures import CrawlFigures
    from topiccrawl.storage.contract import Listed, StoryChain
    from topiccrawl.storage.runs import RunReport, State

CHAINS = 8
"""Number of stories whose reprints are shown."""
CHANGES = 30
"""Number of changes of a topic that are shown, the last ones."""
REPRINTS = 12
"""Number of reprints shown of a story."""
CACHE_SECONDS = 5.0
"""Minimum time for which a result is cached, in seconds."""
CACHE_FACTOR = 100.0
"""A result is cached for this factor times the duration of its query, if that is longer."""
TERMS = 8
"""Number of terms shown of a change."""
LEARNED_TERMS = 24
"""Number of learned terms that are shown."""


class Source(Protocol):
    """Source of states; ``crawl`` is the place of a frontier, or "" for the last started crawl.

    Raises (all methods):
        StorageError: The data cannot be read.
    """

    async def state(self, crawl: str) -> State:
        """Return all sections but those of ``more``."""

    async def states(self) -> list[State]:
        """Return the states of all running crawls."""

    async def articles(self, crawl: str, offset: int, limit: int) -> tuple[int, list[Listed]]:
        """Return the number of stored articles, and one page of them, the last stored first."""

    async def more(self, crawl: str) -> State:
        """Return the sections that change slowly: chains, changes, patterns."""


class StoredSource(Source):
    """Source that reads the articles and topic changes of a crawl from its stores.

    Args:
        settings: Settings of the stores, and TOPICCRAWL_DASHBOARD_SECTIONS.
        crawler: The running crawl; None to read stored data only.

    Raises:
        SettingError: If a section cannot be loaded.
    """

    def __init__(self, settings: BaseSettings, crawler: Crawler | None = None) -> None:
        self._settings = settings
        self._crawler = crawler
        self._storage = storage_of(settings)
        self._listing = self._storage.listing()
        self._sections = components(settings, "TOPICCRAWL_DASHBOARD_SECTIONS")
        self._cache: dict[tuple[str, str], tuple[float, State]] = {}
        self._lock = asyncio.Lock()

    @override
    async def articles(self, crawl: str, offset: int, limit: int) -> tuple[int, list[Listed]]:
        run = (await self.state(crawl))["run"]
        return await self._listing.page(run["topic"], limit, offset)

    @override
    async def more(self, crawl: str) -> State:
        """See ``Source.more``.

        The result is cached for at least ``CACHE_SECONDS``, and longer after a slow query.
        Concurrent callers share one query.
        """
        run = (await self.state(crawl))["run"]
        topic, frontier = run["topic"], run["frontier"]
        async with self._lock:
            began = time.monotonic()
            due, found = self._cache.get((topic, frontier), (0.0, {}))
            if began >= due:
                found = await self._read(topic, frontier)
                now = time.monotonic()
                valid = max(CACHE_SECONDS, CACHE_FACTOR * (now - began))
                self._cache[topic, frontier] = (now + valid, found)
            return found

    async def close(self) -> None:
        """Close the stores."""
        await self._listing.close()

    async def _read(self, topic: str, frontier: str) -> State:
        chains = await self._listing.chains(topic, CHAINS)
        changes = await asyncio.to_thread(ChangeLog(self._storage).all, topic, frontier)
        contributed: State = {}
        for section in self._sections:
            contributed |= await section(self._settings, self._crawler)
        return {
            **contributed,
            "chains": list(map(_chain, chains)),
            "changes": recent_changes(changes),
            "learnt": learned_terms(changes),
        }


class CrawlSource(StoredSource):
    """Source of the running crawl; it ignores which crawl is requested.

    Args:
        figures: Figures of the crawl.
    """

    def __init__(self, figures: CrawlFigures) -> None:
        super().__init__(figures.crawler.settings, figures.crawler)
        self._figures = figures

    @override
    async def state(self, crawl: str) -> State:
        return self._figures.state()

    @override
    async def states(self) -> list[State]:
        return [self._figures.state()]


class RunsSource(StoredSource):
    """Source of recorded crawls; the records of a crawl's nodes are merged.

    Args:
        settings: Settings of the stores and of the run records.
        topic: Topic whose runs are read; "" for all runs.
    """

    def __init__(self, settings: BaseSettings, topic: str = "") -> None:
        super().__init__(settings)
        self._topic = topic
        self._runs = frontiers_of(settings).runs()

    async def records(self) -> list[RunReport]:
        """Return the records of runs, latest first."""
        records = await self._runs.all()
        return [one for one in records if self._topic in {"", one.state["run"]["topic"]}]

    @override
    async def close(self) -> None:
        await self._runs.close()
        await super().close()

    @override
    async def state(self, crawl: str) -> State:
        records = await self.records()
        return {**merged_state(records, crawl), "crawls": crawls(records)}

    @override
    async def states(self) -> list[State]:
        records = await self.records()
        return [merged_state(records, one["frontier"]) for one in crawls(records) if one["live"]]


def _chain(chain: StoryChain) -> dict[str, Any]:
    reprints = [one._asdict() for one in chain.reprints]
    article = chain.article._asdict()
    return {"article": article, "reprints": reprints[:REPRINTS], "reprinted": len(reprints)}


def recent_changes(changes: Sequence[TopicChange]) -> list[dict[str, Any]]:
    """Return the last topic changes with added and removed terms, newest first."""
    before = [changes[0].own if changes else {}, *(change.terms for change in changes)]
    found = [
        {
            "number": change.number,
            "at": change.at,
            "pages": change.pages,
            "reason": change.reason,
            "came": _top_terms({term: w for term, w in new.items() if term not in old}),
            "went": [term for term in old if term not in new][:TERMS],
        }
        for change, (old, new) in zip(changes, pairwise(before), strict=True)
    ]
    return found[-CHANGES:][::-1]


def learned_terms(changes: Sequence[TopicChange]) -> list[list[Any]]:
    """Return the learned terms of the last change with their weights, best first."""
    if not changes:
        return []
    last = changes[-1]
    terms = {term: weight for term, weight in last.terms.items() if term not in last.own}
    return [[term, round(terms[term], 4)] for term in _top_terms(terms, LEARNED_TERMS)]


def _top_terms(terms: Mapping[str, float], most: int = TERMS) -> list[str]:
    """Return terms with a positive weight in stored order, which is the order of evidence."""
    return [term for term, weight in terms.items() if weight > 0][:most]
