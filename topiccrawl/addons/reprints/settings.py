"""Settings of links to known stories (docs/duplicates.md)."""

from __future__ import annotations

TOPICCRAWL_REPRINT_LINKS = False
"""Put links whose text is the headline of a story stored from another site behind other links."""

SPIDER_MIDDLEWARES = {
    "topiccrawl.addons.reprints.middleware.KnownStoryMiddleware": 540,  # after all filters
}
