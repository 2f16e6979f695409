"""Dashboard section with the URL patterns of sites."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from topiccrawl.addons.url_patterns.learner import KEY, LearnedSite
from topiccrawl.addons.url_patterns.middleware import NewsFilterMiddleware
from topiccrawl.storage.factory import storage_of
from topiccrawl.storage.sites import Sites

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from topiccrawl.storage.runs import State

SITES = 12
"""Number of sites shown: those with the most judged pages."""
MAX_READ = 100
"""Maximum number of sites read from the store to choose those shown."""
PATTERNS = 6
"""Number of patterns shown per site."""


async def patterns(settings: BaseSettings, crawler: Crawler | None) -> State:
    """Return the section ``patterns``: current ones of a running crawl, otherwise stored ones.

    Raises:
        StorageError: If the stored patterns cannot be read.
    """
    if crawler is None:
        known = await _stored(settings)
    else:
        links = crawler.get_spider_middleware(NewsFilterMiddleware)
        known = {} if links is None else links.learner.sites
    sites = sorted(known.items(), key=lambda one: -one[1].learner.pages)[:SITES]
    return {"patterns": [_site(name, site) for name, site in sites if site.learner.pages]}


async def _stored(settings: BaseSettings) -> Mapping[str, LearnedSite]:
    storage = storage_of(settings)
    if not storage.exists():
        return {}
    async with Sites(storage) as knowledge:
        sites = (await knowledge.sites(KEY))[:MAX_READ]
        return {site: LearnedSite.from_json(await knowledge.get(site)) for site in sites}


def _site(name: str, site: LearnedSite) -> dict[str, Any]:
    learner = site.learner
    found = sorted(learner.patterns.patterns, key=lambda pattern: -pattern.seen)
    return {
        "site": name,
        "ready": learner.ready,
        "pages": learner.pages,
        "dropped": sum(entry[0] for entry in site.drops.values()),
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
