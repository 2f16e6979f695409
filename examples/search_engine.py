"""Custom search engine, which finds seed URLs for a crawl.

    scrapy crawl topic -a topic=新能源汽车 \
        -a discover=examples.search_engine.OwnSearch:https://search.example.org/find

The class does not fetch pages itself: it returns URLs, and parses the pages that the crawler has
fetched. Its requests obey robots.txt and the hosts' delays as all others (docs/discovery.md).
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
    """Search engine with the parameters ``q`` and ``page``, whose results are links in ``.hits``.

    Args:
        address: URL of the search, which is the text after the colon.
    """

    name = "own-search"
    searches = True

    def __init__(self, address: str) -> None:
        self.address = address

    def start(self, query: str) -> Results:
        """Return the URL of the first page of results."""
        return Results(next=(f"{self.address}?{urlencode({'q': query, 'page': 1})}",))

    def read(self, page: Fetched) -> Answer:
        """Parse a page of results."""
        if (answer := unusual(page, LATER)) is not None:  # other status, or a redirect
            return answer
        elements = tree(page)
        if elements.css_first(".captcha") is not None:
            return Blocked("own-search: a captcha is required", LATER)
        if elements.css_first(".hits") is None:
            return Changed("own-search: the page has no .hits", "adapt examples/search_engine.py")
        hits = hits_of(elements.css(".hits a"), page.url)
        following = with_query(page.url, page=number_in(page.url, "page", 1) + 1)
        return Results(hits, (following,) if hits else ())
