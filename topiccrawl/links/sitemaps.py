"""Parsing of sitemaps (sitemaps.org 0.9, with Google's news extension)."""

from __future__ import annotations

import gzip
import zlib
from typing import NamedTuple

from topiccrawl.links.xml_root import name_of, xml_root

MAX_BYTES = 50_000_000
"""Most bytes read from one sitemap after decompression; the limit of the protocol."""

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
    except (zlib.error, gzip.BadGzipFile):
        return b""


def _parse_lines(text: bytes) -> Sitemap:
    lines = [line.strip() for line in text.decode("utf-8", "replace").splitlines()]
    maps = [line[len(_LINE) :].strip() for line in lines if line.lower().startswith(_LINE)]
    pages = [line for line in lines if line.startswith(("http://", "https://"))]
    return Sitemap(tuple(pages), frozenset(), tuple(maps))


def _parse_xml(text: bytes) -> Sitemap:
    root = xml_root(text)
    if root is None:
        return Sitemap()
    pages: list[str] = []
    news: set[str] = set()
    maps: list[str] = []
    for entry in root:
        parts = {name_of(part): part for part in entry.iterchildren("*")}
        address = (parts["loc"].text or "").strip() if "loc" in parts else ""
        if not address:
            continue
        is_map = name_of(entry) == "sitemap"
        (maps if is_map else pages).append(address)
        if "news" in parts:
            news.add(address)
    return Sitemap(tuple(pages), frozenset(news), tuple(maps))
