"""Settings of links to known stories (docs/duplicates.md)."""

TOPICCRAWL_REPRINT_LINKS = False
"""Rank links whose text is the headline of a story stored from another site below other links."""

SPIDER_MIDDLEWARES = {
    "topiccrawl.addons.reprints.middleware.KnownStoryMiddleware": 540,  # after all filters
}
