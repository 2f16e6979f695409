"""Dashboard section with the largest events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.addons.events.pipeline import newest_articles
from topiccrawl.storage.selection import group_by_event

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from topiccrawl.storage.runs import State

READ = 500
"""Number of newest articles that are read."""

SHOWN = 12
"""Number of events shown."""


async def events(settings: BaseSettings, crawler: Crawler | None) -> State:  # noqa: ARG001
    """Return the section ``events``; empty if TOPICCRAWL_EVENTS is off.

    Raises:
        StorageError: If the articles cannot be read.
    """
    if settings.getfloat("TOPICCRAWL_EVENTS") <= 0:
        return {"events": []}
    found = group_by_event(await newest_articles(settings, READ))
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
