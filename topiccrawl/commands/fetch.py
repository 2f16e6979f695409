"""``scrapy fetch URL`` of Scrapy, with a temporary state."""

from scrapy.commands.fetch import Command as ScrapyFetch

from topiccrawl.commands.isolation import IsolatedCommand


class FetchCommand(IsolatedCommand, ScrapyFetch):
    """Scrapy's command with a temporary state."""
