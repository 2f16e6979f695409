"""``scrapy list`` of Scrapy, with the spiders of the project's add-ons."""

from scrapy.commands.list import Command as ScrapyList

from topiccrawl.commands.isolation import IsolatedCommand


class ListCommand(IsolatedCommand, ScrapyList):
    """Scrapy's command with a crawler process, which loads the add-ons; scrapyd calls it."""

    requires_crawler_process = True
