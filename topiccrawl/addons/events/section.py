"""Dashboard section with the largest events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.storage.factory import opened, storage_of
from topiccrawl.storage.selection import ALL, group_by_event
from topiccrawl.storage.tables import ExportFilter, export_articles

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from topiccrawl.storage.status import State

READ = 500
"""Number of newest articles that are read."""

SHOWN = 12
"""Number of events shown."""


async def events(settings: BaseSettings, crawler: Crawler | None) -> State:  # noqa: ARG001
    """Return the section ``events``; empty if TOPICCRAWL_EVENTS is off.

    Raises:
        StorageError: If the articles cannot be read.
    """
    storage = storage_of(settings)
    if settings.getfloat("TOPICCRAWL_EVENTS") <= 0 or not storage.exists():
        return {"events": []}
    async with opened(storage.articles()) as store:
        newest = export_articles(store, ALL, ExportFilter(limit=READ))
        found = group_by_event([article async for article in newest])
    return {
        "events": [
            {
                "title": one.title,
                "url": one.articles[0].url,
                "articles": len(one.articles),
                "sites": one.sites,
                "first": one.days[0],
                "last": one.days[1],
            }
            for one in found[:SHOWN]
        ]
    }
