"""``scrapy list`` of Scrapy, with the spiders of the project's add-ons."""

from scrapy.commands.list import Command as ScrapyList


class ListCommand(ScrapyList):
    """Scrapy's command with a crawler process, which loads the add-ons; scrapyd calls it."""

    requires_crawler_process = True
