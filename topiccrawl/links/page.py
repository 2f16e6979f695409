"""A fetched page, parsed once for all later stages."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from xxhash import xxh3_64_intdigest

from topiccrawl.links.directives import directives
from topiccrawl.links.limits import parsed
from topiccrawl.links.reading import Reading, Span
from topiccrawl.links.skeletons import group
from topiccrawl.links.urls import canonical, host_of, site_of
from topiccrawl.model import Link, Page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selectolax.lexbor import LexborHTMLParser

MAX_ANCHOR = 200
"""Characters kept of an anchor text; a link around a whole card is cut."""

CONTEXT = 60
"""Characters of text on either side of a link that make its context."""

MOST_REGIONS = 2**24 - 1
"""Numbers of regions: those that a queued URL's evidence (32-bit floats) holds exactly."""

_WINDOW = 4 * CONTEXT  # raw text has runs of blanks; this much of it nearly always holds enough

_NO_PAGE = ("#", "javascript:", "mailto:")  # the common ones; canonical() refuses all others


def read_page(
    html: str,
    url: str,
    x_robots_tag: Sequence[str] = (),
    encoding: str = "utf-8",
    tree: LexborHTMLParser | None = None,
) -> Page:
    """Return a page's text, title, followable links and directives.

    Never raises; at most ``MAX_HTML`` characters and ``MAX_LINKS`` anchors are read, without the
    parts that ``limits`` cuts. No links if the page says nofollow; none with rel=nofollow, ugc or
    sponsored; frames, image maps and meta refresh count as links. A link that occurs several times
    is returned once, in its first place, with its longest anchor and that anchor's context and
    block. The page itself is not among its links.

    A link in running text has the text around it as context; one in a link block the heading or
    caption before it. A block is the smallest list, table, navigation bar or box in which at least
    two (boxes: three) links hold at least half of the letters.

    Args:
        html: Decoded page; broken HTML is read as browsers read it.
        url: The page's canonical URL.
        x_robots_tag: Values of the X-Robots-Tag headers.
        encoding: Encoding that ``html`` was decoded from; browsers send queries in it.
        tree: ``parsed(html)``, where it is there already.

    >>> page = read_page('<title>A</title><p>See <a href="b.html#x">the news</a> today', "http://a.test/")
    >>> page.title, page.text, page.links[0][:4]
    ('A', 'See the news today', ('http://a.test/b.html', 'the news', 'See today', -1))
    """
    reading = Reading()
    root = (parsed(html) if tree is None else tree).root
    if root is not None:
        reading.walk(root)
    text = _Text(reading.pieces)
    base = canonical(reading.base, url) if reading.base else None
    asked = directives(reading.robots, x_robots_tag)
    links = () if asked.nofollow else _links(reading, text, (base or url, url, encoding))
    return Page(
        url=url,
        title=" ".join(reading.title.split()),
        text=" ".join(text.raw.split()),
        prose=_prose(reading),
        links=links,
        canonical=canonical(reading.canonical, base or url) if reading.canonical else None,
        directives=asked,
    )


def _prose(reading: Reading) -> str:
    """Return the page's own text: without the anchors of link blocks."""
    pieces = reading.pieces.copy()
    for index in reading.blocks:
        start, end = reading.anchors[index][1]
        pieces[start:end] = [" "] * (end - start)
    return " ".join("".join(pieces).split())


class _Text:
    """The raw text, and where its pieces begin."""

    def __init__(self, pieces: list[str]) -> None:
        self.raw = "".join(pieces)
        self._starts = [0, *accumulate(map(len, pieces))]
        self._captions: dict[Span, str] = {}

    def caption(self, span: Span | None) -> str:
        """Return the text of a heading, which many links share."""
        if span is None:
            return ""
        if span not in self._captions:
            self._captions[span] = self.between(span)
        return self._captions[span]

    def between(self, span: Span) -> str:
        """Return the text of a span, blanks folded."""
        return " ".join(self.raw[self._starts[span[0]] : self._starts[span[1]]].split())

    def around(self, span: Span) -> str:
        """Return the text on both sides of a span, folded, Latin words whole."""
        start, end = self._starts[span[0]], self._starts[span[1]]
        before = " ".join(self.raw[max(0, start - _WINDOW) : start].split())
        after = " ".join(self.raw[end : end + _WINDOW].split())
        return f"{_tail(before)} {_head(after)}".strip()


def _links(reading: Reading, text: _Text, where: tuple[str, str, str]) -> tuple[Link, ...]:
    """Return the links, once each; ``where`` is base, the page's URL and its encoding."""
    base, own, encoding = where
    urls: dict[str, str | None] = {}
    found: dict[str, tuple[str, int]] = {}
    for index, (href, span, instead, *_) in enumerate(reading.anchors):
        if href not in urls:
            urls[href] = None if href.startswith(_NO_PAGE) else canonical(href, base, encoding)
        url = urls[href]
        if url is None or url == own:
            continue
        label = text.between(span) or " ".join(instead.split())
        if url not in found or len(label) > len(found[url][0]):
            found[url] = (label[:MAX_ANCHOR], index)
    regions = _Regions(own)
    return tuple(
        _link(url, label, index, reading, text, regions) for url, (label, index) in found.items()
    )


def _link(
    url: str, label: str, index: int, reading: Reading, text: _Text, regions: _Regions
) -> Link:
    _, span, _, heading, around = reading.anchors[index]
    block = reading.blocks.get(index, -1)
    context = text.around(span) if block < 0 else text.caption(heading)
    return Link(url, label, context, block, regions[around], regions.leaves(url))


class _Regions(dict[str, tuple[int, int, int]]):
    """Regions of a page's links by the elements around them; see ``Link.regions``.

    Args:
        url: The page's.
    """

    def __init__(self, url: str) -> None:
        super().__init__()
        host = host_of(url)
        self._site, self._page = site_of(url), url
        self._directory = host + (group(url) or ("/",))[-1]
        self._origin = url[: url.find("/", 8) + 1]

    def __missing__(self, around: str) -> tuple[int, int, int]:
        """Return the numbers of the link's place in site, directory and page."""
        found = (
            _number(self._site, around),
            _number(self._directory, around),
            _number(self._page, around),
        )
        self[around] = found
        return found

    def leaves(self, url: str) -> bool:
        """Return whether a link leads to another site."""
        return not url.startswith(self._origin) and site_of(url) != self._site


def _number(place: str, around: str) -> int:
    text = f"{place}\0{around}".encode("utf-8", "replace")
    return 1 + xxh3_64_intdigest(text) % MOST_REGIONS


def _tail(text: str) -> str:
    """Return the last :data:`CONTEXT` characters, without a cut Latin word at their start."""
    if len(text) <= CONTEXT:
        return text
    cut = text[-CONTEXT:]
    if text[-CONTEXT - 1].isascii() and text[-CONTEXT - 1].isalnum() and cut[0].isascii():
        return cut.partition(" ")[2] or cut
    return cut.lstrip()


def _head(text: str) -> str:
    """Return the first :data:`CONTEXT` characters, without a cut Latin word at their end."""
    if len(text) <= CONTEXT:
        return text
    cut = text[:CONTEXT]
    if text[CONTEXT].isascii() and text[CONTEXT].isalnum() and cut[-1].isascii():
        return cut.rpartition(" ")[0] or cut
    return cut.rstrip()
