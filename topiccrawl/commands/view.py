"""``scrapy view URL`` of Scrapy, with a temporary state."""

from scrapy.commands.view import Command as ScrapyView

from topiccrawl.commands.isolation import IsolatedCommand


class ViewCommand(IsolatedCommand, ScrapyView):
    """Scrapy's command with a temporary state."""
