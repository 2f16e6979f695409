"""Parsing of sitemaps (sitemaps.org 0.9, with Google's news extension), and of damaged XML."""

from __future__ import annotations

import re
import zlib
from itertools import islice
from typing import NamedTuple

from lxml import etree

MAX_BYTES = 50_000_000
"""Most bytes read from one sitemap after decompression; the limit of the protocol."""

MAX_ENTRIES = 50_000
"""Most entries read from one sitemap; the limit of the protocol."""

MAX_TEXT = 20_000
"""Most characters read from an element's text; entries with full articles have thousands."""

MAX_REFERENCES = 200_000
"""Most bare ampersands and CDATA sections of a document that are read; each takes 90 bytes."""

_TAG = re.compile(r"<[A-Za-z/!?][^<>]*>")  # other "<" are text, as in HTML
_BARE = re.compile(rb"(<!\[CDATA\[.*?(?:\]\]>|\Z))|&(?!#?\w{1,32};)", re.DOTALL)
"""An ``&`` without a reference; or a section (group 1) in which it is valid."""
_GZIP = b"\x1f\x8b"
_LINE = "sitemap:"


class Sitemap(NamedTuple):
    """Entries of one sitemap file.

    Attributes:
        pages: URLs of pages, in order.
        news: URLs in ``pages`` with a news element.
        sitemaps: URLs of further sitemaps.
    """

    pages: tuple[str, ...] = ()
    news: frozenset[str] = frozenset()
    sitemaps: tuple[str, ...] = ()


def read_sitemap(data: bytes) -> Sitemap:
    r"""Parse a sitemap, a sitemap index, a list of URLs or a robots.txt, gzipped or not.

    Never raises; unreadable data gives no entries.

    >>> read_sitemap(b"<urlset><url><loc> http://a.test/1.html </loc></url></urlset>").pages
    ('http://a.test/1.html',)
    >>> read_sitemap(b"User-agent: *\nSitemap: http://a.test/map.xml").sitemaps
    ('http://a.test/map.xml',)
    """
    text = decompressed(data)
    return _parse_xml(text) if text.lstrip()[:1] == b"<" else _parse_lines(text)


def decompressed(data: bytes, limit: int = MAX_BYTES) -> bytes:
    """Decompress data if it is gzip; return at most ``limit`` bytes, b"" for damaged data."""
    if not data.startswith(_GZIP):
        return data[:limit].removeprefix(b"\xef\xbb\xbf")
    try:
        return zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(data, limit)
    except zlib.error:
        return b""


def _parse_lines(text: bytes) -> Sitemap:
    lines = [line.strip() for line in text.decode("utf-8", "replace").splitlines()]
    maps = [line[len(_LINE) :].strip() for line in lines if line.lower().startswith(_LINE)]
    pages = [line for line in lines if line.startswith(("http://", "https://"))]
    return Sitemap(tuple(pages[:MAX_ENTRIES]), frozenset(), tuple(maps[:MAX_ENTRIES]))


def _parse_xml(text: bytes) -> Sitemap:
    root = xml_root(text)
    if root is None:
        return Sitemap()
    pages: list[str] = []
    news: set[str] = set()
    maps: list[str] = []
    for entry in islice(root, MAX_ENTRIES):
        parts = {name_of(part): part for part in entry.iterchildren("*")}
        address = (parts["loc"].text or "").strip() if "loc" in parts else ""
        if not address:
            continue
        is_map = name_of(entry) == "sitemap"
        (maps if is_map else pages).append(address)
        if "news" in parts:
            news.add(address)
    return Sitemap(tuple(pages), frozenset(news), tuple(maps))


def xml_root(data: bytes) -> etree._Element | None:
    r"""Parse the readable part of a document, or return None; external entities are not fetched.

    A bare ``&`` (``?a=1&b=2``) is text, although it is not valid XML.

    >>> [root.tag for root in map(xml_root, (b"<a><b>", b"\n<a/>")) if root is not None]
    ['a', 'a']
    >>> [xml_root(data) for data in (b"", b" ", b"\0", b"no markup")]
    [None, None, None, None]
    """
    parser = etree.XMLParser(recover=True, resolve_entities=False, no_network=True)
    if b"\0" not in data and b"\x1b" not in data:  # not UTF-16 or ISO-2022
        data = _BARE.sub(lambda found: found[1] or b"&amp;", data, MAX_REFERENCES)
    try:
        root: etree._Element | None = etree.fromstring(data.strip(), parser)
    except etree.XMLSyntaxError:  # no root element found
        return None
    return root


def name_of(element: etree._Element) -> str:
    """Return an element's name in lower case, without its namespace."""
    return str(element.tag).rpartition("}")[2].lower()  # the tag of a comment is a function


def text_of(element: etree._Element) -> str:
    """Return the first ``MAX_TEXT`` characters of an element's text, without escaped markup.

    >>> root = xml_root(b"<a>1 &lt;b&gt;2&lt;/b&gt;<c>3</c></a>")
    >>> root is not None and text_of(root)
    '1 2 3'
    """
    text = "".join(map(str, element.itertext()))[:MAX_TEXT]
    return " ".join(_TAG.sub(" ", text).split())
