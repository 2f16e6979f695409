"""Fetched bytes to pages and articles: pure functions, for any process (``readers``)."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, Protocol

from topiccrawl.extract.extract import Conditions, Extraction, extract_by
from topiccrawl.extract.rendering import is_blank
from topiccrawl.links.feeds import MOST_BYTES, read_feed
from topiccrawl.links.page import read_page
from topiccrawl.links.sitemaps import unpacked
from topiccrawl.text.decode import decode

if TYPE_CHECKING:
    from topiccrawl.model import Page

_RECENT = 4
"""Pages that are kept as read: the same one is asked for an article soon after, if at all."""


class RawPage(NamedTuple):
    """A response as it was fetched.

    Attributes:
        body: Its bytes, decompressed.
        url: Its canonical URL.
        content_type: Content-Type header, or None.
        robots_tags: Values of the X-Robots-Tag headers.
        is_text: It is text by its headers and first bytes.
    """

    body: bytes
    url: str
    content_type: str | None = None
    robots_tags: tuple[str, ...] = ()
    is_text: bool = True


class ReadPage(NamedTuple):
    """A page as it was read.

    Attributes:
        page: The page or feed.
        encoding: Encoding it was decoded from.
        blank: It has hardly any text, but scripts that may write it.
    """

    page: Page
    encoding: str
    blank: bool


class PageReader(Protocol):
    """Reader of pages; without state that matters: any process gives the same results."""

    def read(self, raw: RawPage) -> ReadPage | None:
        """Return a page or a feed (which may come packed, as ``.xml.gz``); None for the rest."""
        ...

    def extract(self, raw: RawPage, asked: Conditions) -> Extraction:
        """Return the article of a page that ``read`` returns."""
        ...


class StandardReader:
    """The reader of pages.

    >>> raw = RawPage("<title>新闻</title><p>一".encode(), "http://a.test/")
    >>> read = StandardReader().read(raw)
    >>> read.page.title, read.encoding, StandardReader().read(raw._replace(is_text=False))
    ('新闻', 'utf-8', None)
    """

    def read(self, raw: RawPage) -> ReadPage | None:
        """Return a page or a feed; None for other content."""
        found = _read(raw)
        return found and found[1]

    def extract(self, raw: RawPage, asked: Conditions) -> Extraction:
        """Return the article of a page."""
        found = _read(raw)
        return extract_by(found[0], raw.url, found[1].page, asked) if found else Extraction()


@lru_cache(maxsize=_RECENT)
def _read(raw: RawPage) -> tuple[str, ReadPage] | None:
    feed = read_feed(raw.body, raw.url)
    if feed is not None:
        decoded = decode(unpacked(raw.body, MOST_BYTES), raw.content_type)
        return decoded.text, ReadPage(feed, decoded.encoding, blank=False)
    if not raw.is_text:
        return None
    decoded = decode(raw.body, raw.content_type)
    page = read_page(decoded.text, raw.url, raw.robots_tags, decoded.encoding)
    return decoded.text, ReadPage(page, decoded.encoding, is_blank(page, decoded.text))
