"""``scrapy check`` of Scrapy, with a temporary state, apart from all crawls."""

from __future__ import annotations

from scrapy.commands.check import Command as ScrapyCheck

from topiccrawl.commands.isolation import Apart


class CheckCommand(Apart, ScrapyCheck):
    """Scrapy's own, with a state that is deleted."""
