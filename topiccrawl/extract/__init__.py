"""Article extraction: body, headline, date, bylines, lists of hub pages."""

from topiccrawl.extract.article import Fetch, compose, extract_article
from topiccrawl.extract.hubs import HubList, hub_list
from topiccrawl.extract.missing import is_missing

__all__ = [
    "Fetch",
    "HubList",
    "compose",
    "extract_article",
    "hub_list",
    "is_missing",
]
