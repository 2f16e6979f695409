"""``scrapy check`` of Scrapy, with a temporary state."""

from scrapy.commands.check import Command as ScrapyCheck

from topiccrawl.commands.isolation import IsolatedCommand


class CheckCommand(IsolatedCommand, ScrapyCheck):
    """Scrapy's command with a temporary state."""

    takes_spiders = True
