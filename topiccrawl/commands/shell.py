"""``scrapy shell URL`` of Scrapy, with a temporary state."""

from scrapy.commands.shell import Command as ScrapyShell

from topiccrawl.commands.isolation import IsolatedCommand


class ShellCommand(IsolatedCommand, ScrapyShell):
    """Scrapy's command with a temporary state."""
