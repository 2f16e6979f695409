"""Conversion of fetched bytes to pages and articles, in any process (see ``readers``).

Messages between the crawl and its reader processes are encoded with msgpack. Readers are not
trusted: unlike pickle, msgpack runs no code of the sender. A page of 30 kB with 50 links takes
0.03 ms to pack and 0.08 ms to unpack (pickle: 0.09 and 0.08).
"""

from __future__ import annotations

import struct
from dataclasses import astuple, dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import msgpack

from topiccrawl.extract.body import Body
from topiccrawl.extract.embedded import embedded_article, embedded_links
from topiccrawl.extract.extract import Conditions, Extraction, extract_by
from topiccrawl.extract.frames import FrameTrial, FrameView
from topiccrawl.extract.genres import Genre
from topiccrawl.extract.missing import is_blank
from topiccrawl.links.feeds import MAX_BYTES, read_feed
from topiccrawl.links.limits import parse_html
from topiccrawl.links.page import read_page
from topiccrawl.links.sitemaps import decompressed
from topiccrawl.model import Directives, Extracted, Link, Page
from topiccrawl.text.decode import decode
from topiccrawl.text.digest import digest_of
from topiccrawl.text.measure import CACHED_WORDS, Measurer, Measures, Vocabulary, judged_text

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

HEAD = struct.Struct("!I")
"""Header of a message: its length in bytes."""

RECENT = 32
"""Pages cached after reading: the article of a page is extracted when its callback runs, often
after all other pages in flight have been read."""

_RECENT_SIZE = 8_000_000
"""Bytes and characters of all cached pages; their trees may take 40 times as much memory."""

_LARGE = 1_000_000
"""Characters from which the tree of a page is not cached but parsed again for extraction."""


class RawPage(NamedTuple):
    """A fetched response.

    Attributes:
        body: Decompressed bytes.
        url: Canonical URL.
        content_type: Content-Type header, or None.
        robots_tags: Values of the X-Robots-Tag headers.
        is_text: Whether it is text by its headers and first bytes.
    """

    body: bytes
    url: str
    content_type: str | None = None
    robots_tags: tuple[str, ...] = ()
    is_text: bool = True


class ReadPage(NamedTuple):
    """Result of reading a page.

    Attributes:
        page: The page or feed.
        encoding: Encoding it was decoded from.
        blank: Whether it has almost no text, but scripts that may add text.
        measures: Measures of its text for each vocabulary of the request, added by ``respond``.
    """

    page: Page
    encoding: str
    blank: bool
    measures: tuple[Measures, ...] = ()


class PageReader(Protocol):
    """Reader of pages. Stateless: all processes give the same results."""

    def read(self, raw: RawPage) -> ReadPage | None:
        """Read a page or a feed (which may be gzipped); return None for other content."""

    def extract(self, raw: RawPage, asked: Conditions) -> Extraction:
        """Extract the article of a page that ``read`` accepts."""


class StandardReader:
    """Default reader of pages.

    >>> raw = RawPage("<title>新闻</title><p>一".encode(), "http://a.test/")
    >>> read = StandardReader().read(raw)
    >>> read.page.title, read.encoding, StandardReader().read(raw._replace(is_text=False))
    ('新闻', 'utf-8', None)
    """

    def read(self, raw: RawPage) -> ReadPage | None:
        """Read a page or a feed; return None for other content."""
        return _cached(raw).page

    def extract(self, raw: RawPage, asked: Conditions) -> Extraction:
        """Extract the article of a page."""
        cached = _cached(raw)
        if cached.page is None:
            return Extraction()
        tree, cached.tree = cached.tree, None  # extraction modifies the tree
        return extract_by(cached.text, raw.url, cached.page.page, asked, tree)


@dataclass
class _CachedPage:
    """Cached result of reading a page, with its tree."""

    text: str = ""
    page: ReadPage | None = None
    tree: LexborHTMLParser | None = None


_recent: dict[RawPage, _CachedPage] = {}


def _cached(raw: RawPage) -> _CachedPage:
    """Return a page from the cache, or read it; drop the least recently used ones."""
    _recent[raw] = found = _recent.pop(raw, None) or _read(raw)
    size = sum(len(page.body) + len(cached.text) for page, cached in _recent.items())
    while len(_recent) > 1 and (size > _RECENT_SIZE or len(_recent) > RECENT):
        oldest = next(iter(_recent))
        size -= len(oldest.body) + len(_recent.pop(oldest).text)
    return found


def _read(raw: RawPage) -> _CachedPage:
    feed = read_feed(raw.body, raw.url)
    if feed is not None:
        decoded = decode(decompressed(raw.body, MAX_BYTES), raw.content_type)
        return _CachedPage(decoded.text, ReadPage(feed, decoded.encoding, blank=False))
    if not raw.is_text:
        return _CachedPage()
    text, encoding, _ = decode(raw.body, raw.content_type)
    tree = parse_html(text)
    page = read_page(text, raw.url, raw.robots_tags, encoding, tree)
    blank = is_blank(page, text)
    if blank and (shown := embedded_article(tree, page.title) or embedded_links(tree)):
        text = f"{text}{shown}"
        tree = parse_html(text)
        links = {link.url: link for link in page.links}  # possibly a redirect by script
        page = read_page(text, raw.url, raw.robots_tags, encoding, tree)
        links |= {link.url: link for link in page.links}
        page = page._replace(links=tuple(links.values()))
    kept = tree if len(text) <= _LARGE else None
    return _CachedPage(text, ReadPage(page, encoding, blank), kept)


class LocalReader:
    """Reader that runs in this process, one request at a time, without limits.

    Args:
        reader: Reader of pages.
    """

    def __init__(self, reader: PageReader) -> None:
        self._reader = reader

    async def read(self, raw: RawPage) -> ReadPage | None:
        """Run ``PageReader.read`` in this process."""
        return self._reader.read(raw)

    async def extract(self, raw: RawPage, asked: Conditions) -> Extraction:
        """Run ``PageReader.extract`` in this process."""
        return self._reader.extract(raw, asked)

    async def close(self) -> None:
        """Do nothing: there is no process to terminate."""


def pack(value: object) -> bytes:
    """Encode a value of plain types and sets as a message with a length header."""
    body: bytes = msgpack.packb(value, default=tuple, unicode_errors="surrogatepass")
    return HEAD.pack(len(body)) + body


def unpack(message: bytes | memoryview) -> Any:  # noqa: ANN401 - any plain value
    """Decode a message without its header."""
    return msgpack.unpackb(
        message, use_list=False, strict_map_key=False, unicode_errors="surrogatepass"
    )


def respond(reader: PageReader, message: bytes) -> bytes:
    """Process a request with a reader and return the encoded response.

    A request is a ``RawPage`` with None, or with the ``Conditions`` of its article, and with the
    message of the vocabularies for which the text is measured.
    """
    fields, options, vocabularies = unpack(message)
    raw, measurers = RawPage(*fields), _measurers_of(vocabularies)
    if options is None:
        if (read := reader.read(raw)) is None:
            return pack(None)
        page = read.page
        text = judged_text(page.text, page.prose)
        measures = tuple(one.measure(text, page.title) for one in measurers)
        return pack(read._replace(measures=measures))
    wanted, frame, fetched_at = options
    wanted = wanted and frozenset(map(Genre, wanted))
    frame = frame and FrameView(*frame)._replace(repeated=frozenset(frame[1]))
    found = reader.extract(raw, Conditions(wanted, frame, fetched_at))
    if (article := found.extracted) is None:
        return pack(found)
    measures = tuple(one.measure(article.body, article.title) for one in measurers)
    article = replace(article, digest=digest_of(article.body))
    return pack((astuple(article), found.body, found.trial, measures))


@lru_cache(maxsize=2)  # before and after a change of terms
def _measurers_of(message: bytes) -> list[Measurer]:
    """Return the measurer of each vocabulary in a message."""
    found = [Vocabulary(*one) for one in unpack(message[HEAD.size :])]
    return [Measurer(one, most=CACHED_WORDS // len(found)) for one in found]


def read_page_of(message: bytes | memoryview) -> ReadPage | None:
    """Decode the page in a response."""
    if (fields := unpack(message)) is None:
        return None
    fields, encoding, blank, measures = fields
    url, title, text, links, canonical, directives, prose, feed, _ = fields
    found = tuple(map(Link._make, links))
    page = Page(url, title, text, found, canonical, Directives(*directives), prose, feed)
    return ReadPage(page, encoding, blank, tuple(map(Measures._make, measures)))


def extraction_of(message: bytes | memoryview) -> Extraction:
    """Decode the extraction in a response."""
    values, body, trial, measures = unpack(message)
    found = values and Extracted(*values), body and Body(*body), FrameTrial(*trial)
    return Extraction(*found, tuple(map(Measures._make, measures)))
