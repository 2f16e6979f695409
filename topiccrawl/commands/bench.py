"""``scrapy bench`` of Scrapy, with a temporary state, apart from all crawls."""

from __future__ import annotations

from scrapy.commands.bench import Command as ScrapyBench

from topiccrawl.commands.isolation import Apart


class BenchCommand(Apart, ScrapyBench):
    """Scrapy's own, with a state that is deleted."""
