"""``scrapy shell URL`` of Scrapy, with a temporary state, apart from all crawls."""

from __future__ import annotations

from scrapy.commands.shell import Command as ScrapyShell

from topiccrawl.commands.isolation import Apart


class ShellCommand(Apart, ScrapyShell):
    """Scrapy's own, with a state that is deleted."""
