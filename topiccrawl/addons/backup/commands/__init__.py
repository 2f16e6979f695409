"""Commands of this add-on, loaded by the entry points `scrapy.commands`."""
