"""``scrapy bench`` of Scrapy, with a temporary state."""

from scrapy.commands.bench import Command as ScrapyBench

from topiccrawl.commands.isolation import IsolatedCommand


class BenchCommand(IsolatedCommand, ScrapyBench):
    """Scrapy's command with a temporary state."""
