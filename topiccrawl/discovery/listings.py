"""Providers without search: feeds, sitemaps, the Common Crawl index, files."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from topiccrawl.discovery.contract import Answer, Blocked, Changed, Fetched, Hit, Results
from topiccrawl.discovery.pages import MAX_HITS, parse_json, unique, unusual, with_query
from topiccrawl.errors import ConfigurationError
from topiccrawl.links.feeds import MAX_BYTES, feed_page
from topiccrawl.links.sitemaps import MAX_ENTRIES, decompressed, name_of, read_sitemap, xml_root
from topiccrawl.links.urls import canonical
from topiccrawl.userfiles import read_user_file

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


MAX_PAGES = 10_000
"""Most pages of the index of Common Crawl, some thousand captures each."""
_FEEDS = frozenset({"rss", "rdf", "feed"})
"""Names of the root elements of feeds."""
_NOT_FOUND = (400, 404)
_CHECK = "check the address"


def _hits(found: Iterable[tuple[str, str]]) -> tuple[Hit, ...]:
    named = ((canonical(address), title) for address, title in found)
    return unique(Hit(url, " ".join(title.split())) for url, title in named if url)


@dataclass(frozen=True)
class UrlList:
    """URLs of a file, one per line, optionally with a title; ``#`` starts a comment."""

    urls: tuple[Hit, ...]
    name: str = "list"
    searches: bool = False

    def start(self, query: str) -> Results:  # noqa: ARG002 - the same for all
        """See ``SeedProvider.start``."""
        return Results(self.urls)

    def read(self, page: Fetched) -> Answer:  # noqa: ARG002 - nothing is requested
        """See ``SeedProvider.read``."""
        return Results()


def read_list(path: Path) -> UrlList:
    """Return the URLs of a file.

    Raises:
        ConfigurationError: It is not a regular file, too large or not UTF-8; a line is not a URL;
            or it has no URL. Messages do not contain text of the file.
    """
    found = []
    for number, line in enumerate(read_user_file(path, ConfigurationError).splitlines(), 1):
        address, *title = line.split(maxsplit=1) or ["#"]
        if address.startswith("#"):
            continue
        if canonical(address) is None:
            raise ConfigurationError(
                "{path}: line {number} is not an http(s) URL", path=path, number=number
            )
        found.append((address, "".join(title)))
    if not found:
        raise ConfigurationError("{path}: contains no URL: write one per line", path=path)
    return UrlList(_hits(found))


@dataclass(frozen=True)
class Feed:
    """RSS or Atom feed; ``rel=next`` of Atom is followed."""

    url: str
    name: str = "feed"
    searches: bool = False

    def start(self, query: str) -> Results:  # noqa: ARG002 - the same for all
        """See ``SeedProvider.start``."""
        return Results((), (self.url,))

    def read(self, page: Fetched) -> Answer:
        """See ``SeedProvider.read``."""
        if (answer := unusual(page, _CHECK)) is not None:
            return answer
        root = xml_root(decompressed(page.body, MAX_BYTES))
        name = "" if root is None else name_of(root)
        if root is None or name not in _FEEDS:
            return Changed(f"feed: <{name}> is neither RSS nor Atom", _CHECK)
        links = (link for box in (root, *root) for link in box if name_of(link) == "link")
        following = [link.get("href", "") for link in links if link.get("rel") == "next"]
        urls = (canonical(address, page.url) for address in following[:MAX_HITS])
        hits = unique(Hit(link.url, link.anchor) for link in feed_page(root, page.url).links)
        return Results(hits, tuple(url for url in urls if url))


@dataclass(frozen=True)
class Sitemaps:
    """Sitemap, sitemap index, or robots.txt of a host with sitemaps."""

    url: str
    name: str = "sitemap"
    searches: bool = False

    def start(self, query: str) -> Results:  # noqa: ARG002 - the same for all
        """See ``SeedProvider.start``."""
        bare = urlsplit(self.url).path in {"", "/"}
        return Results((), (canonical("/robots.txt", self.url) or self.url if bare else self.url,))

    def read(self, page: Fetched) -> Answer:
        """See ``SeedProvider.read``."""
        if (answer := unusual(page, _CHECK)) is not None:
            return answer
        found = read_sitemap(page.body)
        if not found.pages and not found.sitemaps and b"urlset" not in page.body:
            return Changed("sitemap: contains neither pages nor sitemaps", _CHECK)
        maps = tuple(url for url in (canonical(m, page.url) for m in found.sitemaps) if url)
        return Results(_hits((url, "") for url in found.pages), maps, counts=bool(found.pages))


@dataclass(frozen=True)
class CommonCrawl:
    """Pages in the index of Common Crawl (CDX API).

    Args:
        pattern: URL pattern, ``example.com/news/*`` or ``*.example.com``.
        index: Name of a crawl, such as ``CC-MAIN-2026-05``; "" for the newest.
        base: URL of the index server.
    """

    pattern: str
    index: str = ""
    base: str = "https://index.commoncrawl.org"
    name: str = "commoncrawl"
    searches: bool = False

    def start(self, query: str) -> Results:  # noqa: ARG002 - the same for all
        """See ``SeedProvider.start``."""
        first = f"{self.base}/collinfo.json"
        return Results(
            (), (self._pages(f"{self.base}/{self.index}-index") if self.index else first,)
        )

    def read(self, page: Fetched) -> Answer:
        """See ``SeedProvider.read``; a pattern without captures has no results."""
        found = parse_json(page.text)
        if page.status in _NOT_FOUND and "No Captures" in page.text:
            return Results()
        if (
            answer := unusual(page, "crawl more slowly: the index is one shared server")
        ) is not None:
            return answer
        if isinstance(found, list):
            return self._newest(found)
        if isinstance(found, dict) and "pages" in found:
            here = page.url.replace("&showNumPages=true", "")
            numbers = range(min(int(found["pages"]), MAX_PAGES))
            return Results((), tuple(with_query(here, page=n) for n in numbers), counts=False)
        captures = [
            parse_json(line)
            for line in islice(filter(str.strip, page.text.splitlines()), MAX_ENTRIES)
        ]
        if not all(isinstance(one, dict) and "url" in one for one in captures):
            return Changed("commoncrawl: the response is not JSON of the index", _CHECK)
        return Results(_hits((str(one["url"]), "") for one in captures))

    def _newest(self, crawls: list[Any]) -> Answer:
        """Return the URL of the index of the newest crawl, the first of the list."""
        apis = [one.get("cdx-api") for one in crawls if isinstance(one, dict)]
        if not apis or canonical(str(apis[0])) is None:
            return Blocked(
                "commoncrawl: lists no crawl", "name one: commoncrawl:CC-MAIN-...:PATTERN"
            )
        return Results((), (self._pages(str(apis[0])),), counts=False)

    def _pages(self, api: str) -> str:
        """Return the URL that returns the number of result pages."""
        values = [("url", self.pattern), ("output", "json"), ("fl", "url"), ("pageSize", "1"),
                  ("filter", "=status:200"), ("filter", "=mime:text/html"),
                  ("showNumPages", "true")]  # fmt: skip
        return f"{api}?{urlencode(values)}"
