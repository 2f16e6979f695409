"""A search engine of your own: where a crawl begins.

    scrapy crawl topic -a topic=新能源汽车 \
        -a discover=examples.search_engine.OwnSearch:https://search.example.org/find

The class neither fetches nor waits: it names URLs, and reads the pages that the crawler fetched.
Its requests obey robots.txt and the hosts' delays like all others (docs/discovery.md).
"""

from __future__ import annotations

from urllib.parse import urlencode

from topiccrawl.discovery import (
    Answer,
    Blocked,
    Changed,
    Fetched,
    Results,
    hits_of,
    number_in,
    tree,
    unusual,
    with_query,
)

LATER = "wait some hours, or use another provider"


class OwnSearch:
    """An engine that lists anchors in ``.hits`` and takes ``q`` and ``page``.

    Args:
        address: Address of its search, the text after the colon.
    """

    name = "own-search"
    searches = True

    def __init__(self, address: str) -> None:
        self.address = address

    def start(self, query: str) -> Results:
        """Name the first page of results."""
        return Results(next=(f"{self.address}?{urlencode({'q': query, 'page': 1})}",))

    def read(self, page: Fetched) -> Answer:
        """Read a page of results."""
        if (answer := unusual(page, LATER)) is not None:  # another status, a redirect
            return answer
        elements = tree(page)
        if elements.css_first(".captcha") is not None:
            return Blocked("own-search: a captcha is required", LATER)
        if elements.css_first(".hits") is None:
            return Changed("own-search: the page has no .hits", "adapt examples/search_engine.py")
        hits = hits_of(elements.css(".hits a"), page.url)
        following = with_query(page.url, page=number_in(page.url, "page", 1) + 1)
        return Results(hits, (following,) if hits else ())
