"""Sites' URL patterns as a section of the dashboard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from topiccrawl.addons.url_patterns.learner import DROPS_KEY, KEY
from topiccrawl.addons.url_patterns.middleware import NewsFilterMiddleware
from topiccrawl.addons.url_patterns.site import SiteLearner
from topiccrawl.storage.factory import storage_of
from topiccrawl.storage.sites import Sites

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from topiccrawl.storage.status import State

    Drops = Mapping[str, Sequence[Any]]

SITES = 12
"""Sites whose patterns are shown, those with most judged pages."""
LOOKED_AT = 100
"""Sites that are read to choose them, where patterns come from the store."""
PATTERNS = 6
"""Patterns of a site that are shown."""


async def patterns(settings: BaseSettings, crawler: Crawler | None) -> State:
    """Return the section ``patterns``: of a running crawl those it has now, else the stored ones.

    Raises:
        StorageError: They cannot be read.
    """
    known = await _stored(settings) if crawler is None else _learnt(crawler)
    sites = sorted(known.items(), key=lambda one: -one[1][0].pages)[:SITES]
    return {"patterns": [_site(site, *one) for site, one in sites if one[0].pages]}


def _learnt(crawler: Crawler) -> Mapping[str, tuple[SiteLearner, Drops]]:
    links = crawler.get_spider_middleware(NewsFilterMiddleware)
    return {} if links is None else links.learner.known()


async def _stored(settings: BaseSettings) -> Mapping[str, tuple[SiteLearner, Drops]]:
    storage = storage_of(settings)
    if not storage.exists():
        return {}
    async with Sites(storage) as knowledge:
        found: dict[str, tuple[SiteLearner, Drops]] = {}
        for site in (await knowledge.sites(KEY))[:LOOKED_AT]:
            value = await knowledge.get(site)
            found[site] = SiteLearner.from_json(value.get(KEY, {})), value.get(DROPS_KEY, {})
        return found


def _site(site: str, learner: SiteLearner, drops: Drops) -> dict[str, Any]:
    found = sorted(learner.patterns.patterns, key=lambda pattern: -pattern.seen)
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
            for pattern in found[:PATTERNS]
        ],
    }
