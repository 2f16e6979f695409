"""Reading of a fetched page: text, title, links and directives."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from xxhash import xxh3_64_intdigest

from topiccrawl.errors import expect
from topiccrawl.links.limits import parse_html
from topiccrawl.links.reading import MAX_LINKS, Reading, Span, directives
from topiccrawl.links.scripted import scripted_next, scripted_redirect
from topiccrawl.links.skeletons import group
from topiccrawl.links.urls import canonical, host_of, site_of
from topiccrawl.model import Link, Page
from topiccrawl.text.tokens import Cache

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from selectolax.lexbor import LexborHTMLParser

MAX_ANCHOR = 200
"""Most characters of an anchor text; a link around a whole card is cut."""

MAX_TEXTS = 200_000
"""Most characters of the anchors and contexts of a page's links, anchors first; the rest is cut.
The crawl's own process scores them, and 2 million characters take 5 s. A hub has 20,000."""

CONTEXT = 60
"""Characters of text on either side of a link that form its context."""

MOST_REGIONS = 2**24 - 1
"""Largest region number: evidence is stored as 32-bit floats, which represent it exactly."""

_WINDOW = 4 * CONTEXT  # raw text has runs of blanks, so the window is wider

_NEXT = "下一页"

_NON_HTTP = ("#", "javascript:", "mailto:")  # common cases only; canonical() refuses all others


def read_page(
    html: str,
    url: str,
    x_robots_tag: Sequence[str] = (),
    encoding: str = "utf-8",
    tree: LexborHTMLParser | None = None,
) -> Page:
    """Extract text, title, followable links and directives from a page. Never raises.

    At most ``MAX_HTML`` characters and ``MAX_LINKS`` anchors are read, without the parts that
    ``limits`` removes. A page with nofollow has no links; links with rel=nofollow, ugc or sponsored
    are left out. Frames, image maps, meta refresh and URLs of scripts (``links.scripted``) count as
    links. A repeated link is returned once, at its first position, with its longest anchor and the
    context and block of that anchor. Links to the page itself are left out. Links to the page's
    host keep the page's scheme: sites that answer to http and https would be fetched twice.

    The context of a link in running text is the text around it. The context of a link in a link
    block is the heading or caption before the block. A block is the smallest list, table,
    navigation bar or box in which at least two (boxes: three) links contain at least half of the
    letters.

    Args:
        html: Decoded page; broken HTML is parsed as in browsers.
        url: The page's canonical URL.
        x_robots_tag: Values of the X-Robots-Tag headers.
        encoding: Encoding that ``html`` was decoded from; browsers encode queries in it.
        tree: Result of ``parse_html(html)``, if available.

    >>> page = read_page('<title>A</title><p>See <a href="b.html#x">the news</a> today', "http://a.test/")
    >>> page.title, page.text, page.links[0][:4]
    ('A', 'See the news today', ('http://a.test/b.html', 'the news', 'See today', -1))
    """
    expect(url, str, "the URL of a page is text", "give the address that it was fetched from")
    reading = Reading()
    root = (parse_html(html) if tree is None else tree).root
    if root is not None:
        reading.walk(root)
    text = _Text(reading.pieces)
    base = canonical(reading.base, url) if reading.base else None
    rules = directives(reading.robots, x_robots_tag)
    where = base or url, url, encoding
    links = () if rules.nofollow else _links(reading, text, where, html)
    return Page(
        url=url,
        title=" ".join(reading.title.split()),
        text=" ".join(text.raw.split()),
        prose=_prose(reading),
        links=links,
        canonical=canonical(reading.canonical, base or url) if reading.canonical else None,
        directives=rules,
    )


def _prose(reading: Reading) -> str:
    """Return the page's text without the anchors of link blocks."""
    pieces = reading.pieces.copy()
    for index in reading.blocks:
        start, end = reading.anchors[index][1]
        pieces[start:end] = [" "] * (end - start)
    return " ".join("".join(pieces).split())


class _Text:
    """The raw text and the offsets of its pieces.

    Attributes:
        raw: The text.
        caption: Texts of headings; cached, since many links share one.
    """

    def __init__(self, pieces: list[str]) -> None:
        self.raw = "".join(pieces)
        self._starts = [0, *accumulate(map(len, pieces))]
        self.caption = Cache(self.between, MAX_LINKS)

    def between(self, span: Span) -> str:
        """Return the text of a span with blanks folded."""
        return " ".join(self.raw[self._starts[span[0]] : self._starts[span[1]]].split())

    def around(self, span: Span) -> str:
        """Return the text on both sides of a span, blanks folded, without cut Latin words."""
        start, end = self._starts[span[0]], self._starts[span[1]]
        before = " ".join(self.raw[max(0, start - _WINDOW) : start].split())
        after = " ".join(self.raw[end : end + _WINDOW].split())
        return f"{_head(before[::-1])[::-1]} {_head(after)}".strip()


def _links(
    reading: Reading, text: _Text, where: tuple[str, str, str], html: str
) -> tuple[Link, ...]:
    """Return the distinct links.

    Args:
        reading: Data of the page.
        text: Its text.
        where: Base URL, the page's URL and its encoding.
        html: Its markup, for URLs that its scripts lead to; used if no anchor leads there.
    """
    base, page_url, encoding = where
    found, moved = _distinct(reading, text, where)
    regions = _Regions(page_url)
    links = [
        _link(url, label, index, reading, text, regions) for url, (label, index) in found.items()
    ]
    target, label = scripted_next(html), _NEXT
    if not target and not found:
        target, label = scripted_redirect(html) or moved, ""
    url = canonical(target, base, encoding) if target else None
    if url and url != page_url and url not in found:
        links.append(Link(url, label, "", -1, regions[""], regions.leaves(url)))
    return limit_texts(links)


def limit_texts(links: Collection[Link]) -> tuple[Link, ...]:
    """Return the links without contexts, then anchors, above ``MAX_TEXTS`` characters in total.

    >>> links = Link("u", "a", "b"), Link("v", "c", "d" * MAX_TEXTS), Link("w", "e")
    >>> [link[1:3] for link in limit_texts(links)]
    [('a', 'b'), ('c', ''), ('e', '')]
    """
    left, limited = MAX_TEXTS, []
    spare = left - sum(len(link.anchor) for link in links)
    for link in links:
        left -= len(link.anchor)
        if (spare := spare - len(link.context)) < 0:
            link = link._replace(anchor=link.anchor if left >= 0 else "", context="")  # noqa: PLW2901
        limited.append(link)
    return tuple(limited)


def _distinct(
    reading: Reading, text: _Text, where: tuple[str, str, str]
) -> tuple[dict[str, tuple[str, int]], str]:
    """Return the distinct URLs with their longest anchors and the indexes of these.

    The second value is the URL of a link to the page itself with the other scheme, or "".
    """
    base, page_url, encoding = where
    origin, other = _origins(page_url)
    moved = ""
    urls: dict[str, str | None] = {}
    found: dict[str, tuple[str, int]] = {}
    for index, (href, span, alternative, *_) in enumerate(reading.anchors):
        if href not in urls:
            urls[href] = None if href.startswith(_NON_HTTP) else canonical(href, base, encoding)
        url = urls[href]
        if url is None or url == page_url:
            continue
        if url.startswith(other):
            same = origin + url[len(other) :]
            if same == page_url:
                moved = url
                continue
            url = same
        label = text.between(span) or " ".join(alternative.split())
        if url not in found or len(label) > len(found[url][0]):
            found[url] = (label[:MAX_ANCHOR], index)
    return found, moved


def _origins(url: str) -> tuple[str, str]:
    """Return the start of a URL up to its path, and the same with the other scheme.

    >>> _origins("http://a.test/b/c.html"), _origins("https://a.test/")
    (('http://a.test/', 'https://a.test/'), ('https://a.test/', 'http://a.test/'))
    """
    scheme, _, rest = url.partition("://")
    host = rest.partition("/")[0]
    return f"{scheme}://{host}/", f"{'http' if scheme == 'https' else 'https'}://{host}/"


def _link(
    url: str, label: str, index: int, reading: Reading, text: _Text, regions: _Regions
) -> Link:
    _, span, _, heading, surrounding = reading.anchors[index]
    block = reading.blocks.get(index, -1)
    context = text.around(span) if block < 0 else text.caption[heading] if heading else ""
    return Link(url, label, context, block, regions[surrounding], regions.leaves(url))


class _Regions(dict[str, tuple[int, int, int]]):
    """Regions of a page's links by their surrounding elements; see ``Link.regions``.

    Args:
        url: URL of the page.
    """

    def __init__(self, url: str) -> None:
        self._site = site_of(url)
        self._places = self._site, host_of(url) + (group(url) or ("/",))[-1], url
        self._origin = url[: url.find("/", 8) + 1]

    def __missing__(self, surrounding: str) -> tuple[int, int, int]:
        """Return the region numbers of the link in site, directory and page."""
        site, directory, page = (_number(place, surrounding) for place in self._places)
        self[surrounding] = site, directory, page
        return self[surrounding]

    def leaves(self, url: str) -> bool:
        """Return whether a link leads to another site."""
        return not url.startswith(self._origin) and site_of(url) != self._site


def _number(place: str, surrounding: str) -> int:
    text = f"{place}\0{surrounding}".encode("utf-8", "replace")
    return 1 + xxh3_64_intdigest(text) % MOST_REGIONS


def _head(text: str) -> str:
    """Return the first :data:`CONTEXT` characters, without a cut Latin word at their end."""
    if len(text) <= CONTEXT:
        return text
    cut = text[:CONTEXT]
    if text[CONTEXT].isascii() and text[CONTEXT].isalnum() and cut[-1].isascii():
        return cut.rpartition(" ")[0] or cut
    return cut.rstrip()
