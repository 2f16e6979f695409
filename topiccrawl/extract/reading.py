"""Fetched bytes to pages and articles: pure functions, for any process (``readers``)."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, Protocol

from topiccrawl.extract.extract import Conditions, Extraction, extract_by
from topiccrawl.extract.rendering import is_blank
from topiccrawl.links.feeds import MAX_BYTES, read_feed
from topiccrawl.links.limits import parse_html
from topiccrawl.links.page import read_page
from topiccrawl.links.sitemaps import decompressed
from topiccrawl.text.decode import decode

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

    from topiccrawl.model import Page

RECENT = 4
"""Pages that are kept as read: the same one is asked for an article soon after, if at all."""

_LARGE = 1_000_000
"""Characters of a page that is parsed again for its article: its tree takes too much to keep."""


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
        return _read(raw).page

    def extract(self, raw: RawPage, asked: Conditions) -> Extraction:
        """Return the article of a page."""
        kept = _read(raw)
        if kept.page is None:
            return Extraction()
        tree, kept.tree = kept.tree, None  # an extraction changes it
        return extract_by(kept.text, raw.url, kept.page.page, asked, tree)


class _Kept:
    """A page as it was read, and its elements."""

    def __init__(
        self, text: str = "", page: ReadPage | None = None, tree: LexborHTMLParser | None = None
    ) -> None:
        self.text = text
        self.page = page
        self.tree = tree if len(text) <= _LARGE else None


@lru_cache(maxsize=RECENT)
def _read(raw: RawPage) -> _Kept:
    feed = read_feed(raw.body, raw.url)
    if feed is not None:
        decoded = decode(decompressed(raw.body, MAX_BYTES), raw.content_type)
        return _Kept(decoded.text, ReadPage(feed, decoded.encoding, blank=False))
    if not raw.is_text:
        return _Kept()
    text, encoding, _ = decode(raw.body, raw.content_type)
    tree = parse_html(text)
    page = read_page(text, raw.url, raw.robots_tags, encoding, tree)
    return _Kept(text, ReadPage(page, encoding, is_blank(page, text)), tree)


class OwnProcess:
    """Answers the questions in this process, one after another, without any limit.

    Args:
        reader: Reader of pages.
    """

    def __init__(self, reader: PageReader) -> None:
        self._reader = reader

    async def read(self, raw: RawPage) -> ReadPage | None:
        """Return what ``PageReader.read`` does."""
        return self._reader.read(raw)

    async def extract(self, raw: RawPage, asked: Conditions) -> Extraction:
        """Return what ``PageReader.extract`` does."""
        return self._reader.extract(raw, asked)

    async def close(self) -> None:
        """Do nothing: there is no process to end."""
