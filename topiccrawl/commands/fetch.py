"""``scrapy fetch URL`` of Scrapy, with a temporary state, apart from all crawls."""

from __future__ import annotations

from scrapy.commands.fetch import Command as ScrapyFetch

from topiccrawl.commands.isolation import Apart


class FetchCommand(Apart, ScrapyFetch):
    """Scrapy's own, with a state that is deleted."""
