"""Articles on several pages: the links of a page to the next part and to the first."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from topiccrawl.text.digest import digest_of, fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from topiccrawl.model import Article, Link

_TAIL = re.compile(r"(?:\.[a-z]{3,5})?/?$")
_MARKED = re.compile(rf"^(?P<base>.*[^/_-])[_-](?P<number>\d{{1,2}})(?P<tail>{_TAIL.pattern})")
_KEYS = frozenset(("page", "p", "pn", "pageno", "page_no", "paged", "pageindex"))
_NEXT = re.compile(r"^\W*(?:下一?页|后一?页|下页|余下全文|next(?: page)?)\W*$", re.IGNORECASE)
_FIRST = re.compile(
    r"^\W*(?:上一?页|前一?页|第?[1一]页?|prev(?:ious)?(?: page)?)\W*$", re.IGNORECASE
)
_NUMBER = re.compile(r"^\W*第?(\d{1,2})页?\W*$")


class PartUrl(NamedTuple):
    """A URL as one page of a document.

    Attributes:
        base: URL without the page number, common to all pages of the document.
        number: Its number; 0 if the URL has none.
    """

    base: str
    number: int


class Parts(NamedTuple):
    """Neighbours of a page in its document.

    Attributes:
        next: URL of the next part, or "".
        first: URL of the first part if the page itself is a later one, or "".
    """

    next: str = ""
    first: str = ""


def part_of(url: str) -> PartUrl:
    """Return the document that a URL belongs to, and the number of the page in it.

    >>> part_of("http://a.test/20160112/n43_2.shtml")
    PartUrl(base='http://a.test/20160112/n43.shtml', number=2)
    >>> part_of("http://a.test/show?id=7&page=3").number, part_of("http://a.test/43.html").number
    (3, 0)
    """
    try:
        return _part_of(url)
    except ValueError:  # not an address
        return PartUrl(url, 0)


def _part_of(url: str) -> PartUrl:
    parts = urlsplit(url)
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    paged = [value for key, value in pairs if key.lower() in _KEYS and value.isdecimal()]
    if paged:
        kept = [(key, value) for key, value in pairs if key.lower() not in _KEYS]
        return PartUrl(
            urlunsplit(parts._replace(query=urlencode(kept), fragment="")), int(paged[0])
        )
    match = _MARKED.match(parts.path)
    if match is None:
        return PartUrl(url, 0)
    return PartUrl(
        urlunsplit(parts._replace(path=match["base"] + match["tail"])), int(match["number"])
    )


def parts_of(url: str, links: Iterable[Link]) -> Parts:
    """Return next and first part by a page's links; links to other documents do not count.

    A next part has the same document's URL with a higher number, and its anchor is 下一页 or the
    number. A page is a later part if its URL has a number and it links to a lower one.

    >>> from topiccrawl.model import Link
    >>> pager = [Link("http://a.test/n1.html", "1"), Link("http://a.test/n1_3.html", "3"),
    ...          Link("http://a.test/n2.html", "下一页")]
    >>> parts_of("http://a.test/n1_2.html", pager)
    Parts(next='http://a.test/n1_3.html', first='http://a.test/n1.html')
    """
    here = part_of(url)
    said, counted, lower = [], [], []
    for number, link in _siblings(here, links):
        counts = _NUMBER.match(link.anchor)
        if number < here.number and (counts or _FIRST.match(link.anchor)):
            lower.append((number, link.url))
        elif number > here.number and _NEXT.match(link.anchor):
            said.append((number, link.url))
        elif number > here.number and counts and int(counts[1]) - number in (0, 1):
            counted.append((number, link.url))
    onward = min(said, default=None) or min(counted, default=(0, ""))
    return Parts(onward[1], min(lower, default=(0, ""))[1])


def without_parts(url: str, links: Iterable[Link]) -> tuple[Link, ...]:
    """Return the links that do not lead to other pages of the URL's own document.

    >>> from topiccrawl.model import Link
    >>> links = [Link("http://a.test/1_2.html"), Link("http://b.test/")]
    >>> [link.url for link in without_parts("http://a.test/1.html", links)]
    ['http://b.test/']
    """
    links = tuple(links)
    own = {link.url for _, link in _siblings(part_of(url), links)}
    return tuple(link for link in links if link.url not in own)


def _siblings(here: PartUrl, links: Iterable[Link]) -> Iterator[tuple[int, Link]]:
    stem = _TAIL.sub("", here.base.partition("?")[0])
    for link in links:
        if link.url.startswith(stem):  # most links lead elsewhere, and this is cheap
            there = part_of(link.url)
            if there.base == here.base and there.number != here.number:
                yield there.number, link


def joined(article: Article, text: str, images: Iterable[str] = ()) -> Article:
    r"""Return the article with the text of its next part; lines that it already has are left out.

    >>> from topiccrawl.model import Article
    >>> joined(Article("http://a.test/1", "题", "导读。\n一。"), "导读。\n二。").body
    '导读。\n一。\n二。'
    """
    known = {fold(line) for line in article.body.split("\n")}
    new = [line for line in text.split("\n") if fold(line) not in known]
    body = "\n".join((article.body, *new))
    pictures = tuple(dict.fromkeys((*article.images, *images)))
    return replace(article, body=body, images=pictures, digest=digest_of(body))
