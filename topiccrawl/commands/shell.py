"""``scrapy shell URL`` of Scrapy, with a temporary state."""

from __future__ import annotations

from scrapy.commands.shell import Command as ScrapyShell

from topiccrawl.commands.isolation import IsolatedCommand


class ShellCommand(IsolatedCommand, ScrapyShell):
    """Scrapy's command with a temporary state."""
