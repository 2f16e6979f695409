"""topiccrawl: a focused news crawler on Scrapy, Chinese first."""

__version__ = "0.1.0"
