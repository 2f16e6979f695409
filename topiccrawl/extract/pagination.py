"""Multi-page articles: detection of next and first pages, and joining of pages."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlunsplit

from topiccrawl.links.urls import split_url
from topiccrawl.text.digest import digest_of, fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from topiccrawl.model import Article, Link

_TAIL = re.compile(r"(?:\.[a-z]{3,5})?/?$")
_MARKED = re.compile(rf"^(?P<base>.*[^/_-])[_-](?P<number>\d{{1,2}})(?P<tail>{_TAIL.pattern})")
_KEYS = frozenset(("page", "p", "pn", "pageno", "page_no", "paged", "pageindex"))
_NEXT = re.compile(
    r"^\W*(?:(?:下一?页|后一?页|余下全文)(?:\W.*)?|next(?: page)?\W*)$", re.IGNORECASE
)
_FIRST = re.compile(
    r"^\W*(?:上一?页|前一?页|第?[1一]页?|prev(?:ious)?(?: page)?)\W*$", re.IGNORECASE
)
_NUMBER = re.compile(r"^\W*第?(\d{1,2})页?\W*$")
_WHOLE = re.compile(
    r"^\W*+(?:(?:在?本页)?(?:点击|继续)?(?:阅读|查看|显示|展开|浏览)?(?:全文|全部内容|完整内容)(?:阅读|浏览)?"
    r"|(?:(?:view|read|show) )?(?:the )?(?:(?:full|whole|entire|complete) (?:article|story|text)"
    r"|(?:as |on )?(?:a )?single page))\W*$",
    re.IGNORECASE,
)
_OF_WHOLE = re.compile(r"[_./-][A-Za-z]*0?(?:\.[a-z]{3,5})?/?")
"""Rest of the path of a whole article's URL, after the path of its first page: _all.html, /full."""


class PageUrl(NamedTuple):
    """URL of one page of a multi-page document.

    Attributes:
        base: URL without the page number, shared by all pages of the document.
        number: Page number; 0 if the URL has none.
    """

    base: str
    number: int


class Pager(NamedTuple):
    """Links of a page to other pages of its document.

    Attributes:
        next: URL of the next page, or of the whole article if it is on one page, or "".
        first: URL of the first page if this is a later page, or "".
    """

    next: str = ""
    first: str = ""


def parse_page_url(url: str) -> PageUrl:
    """Split a URL into document and page number.

    >>> parse_page_url("http://a.test/20160112/n43_2.shtml")
    PageUrl(base='http://a.test/20160112/n43.shtml', number=2)
    >>> parse_page_url("http://a.test/show?id=7&page=3").number, parse_page_url("http://a.test/43.html").number
    (3, 0)
    """
    parts = split_url(url)
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    paged = [value for key, value in pairs if key.lower() in _KEYS and value.isdecimal()]
    if paged:
        kept = [(key, value) for key, value in pairs if key.lower() not in _KEYS]
        base = urlunsplit(parts._replace(query=urlencode(kept), fragment=""))
        return PageUrl(base, int(paged[0]))
    match = _MARKED.match(parts.path)
    if match is None:
        return PageUrl(url, 0)
    base = urlunsplit(parts._replace(path=match["base"] + match["tail"]))
    return PageUrl(base, int(match["number"]))


def pager_of(url: str, links: Iterable[Link]) -> Pager:
    """Find the next and the first page of a multi-page document by the links of a page.

    The next page has the same base URL with a higher number, and the anchor 下一页 or the number.
    Without a next page, the page of the whole article follows: its URL extends that of this page,
    and its anchor is 阅读全文 or the like. A page is a later page if its URL has a number and it
    links to a lower number. If a link to a page is its number, the anchors of the others do not
    matter: they may be those of an image that leads to the next page, or of a headline.

    >>> from topiccrawl.model import Link
    >>> pager = [Link("http://a.test/n1.html", "1"), Link("http://a.test/n1_3.html", "3"),
    ...          Link("http://a.test/n2.html", "下一页")]
    >>> pager_of("http://a.test/n1_2.html", pager)
    Pager(next='http://a.test/n1_3.html', first='http://a.test/n1.html')
    """
    links = tuple(links)
    here = _document(url, links)
    before, after = [], []
    by_word: list[tuple[int, str]] = []
    is_numbered = is_later = False
    for number, link in _siblings(here, links):
        counts = _NUMBER.match(link.anchor)
        is_numbered |= counts is not None and int(counts[1]) - number in (0, 1)
        if number < here.number:
            before.append((number, link.url))
            is_later |= bool(counts or _FIRST.match(link.anchor))
        else:
            after.append((number, link.url))
            by_word += after[-1:] if _NEXT.match(link.anchor) else ()
    following = min(by_word or after, default=(0, ""))[1] if by_word or is_numbered else ""
    following = following or next(_wholes(here.base, links), "")
    first = min(before, default=(0, ""))[1] if is_later or is_numbered else ""
    return Pager("" if following == url else following, first)


def without_pages(url: str, links: Iterable[Link]) -> tuple[Link, ...]:
    """Return the links without those to other pages of the same document.

    >>> from topiccrawl.model import Link
    >>> links = [Link("http://a.test/1_2.html"), Link("http://b.test/")]
    >>> [link.url for link in without_pages("http://a.test/1.html", links)]
    ['http://b.test/']
    """
    links = tuple(links)
    here = _document(url, links)
    own = {*(link.url for _, link in _siblings(here, links)), *_wholes(here.base, links)}
    return tuple(link for link in links if link.url not in own)


def _document(url: str, links: Iterable[Link]) -> PageUrl:
    """Return document and page number of a page; in a_1.html that links to a_1_2.html, 1 is none.

    >>> from topiccrawl.model import Link
    >>> _document("http://a.test/n_1.html", [Link("http://a.test/n_1_2.html", "2")])
    PageUrl(base='http://a.test/n_1.html', number=0)
    """
    here, stem = parse_page_url(url), _TAIL.sub("", url)
    extended = (parse_page_url(link.url).base for link in links if link.url.startswith(stem))
    return PageUrl(url, 0) if here.number and url in extended else here


def _siblings(here: PageUrl, links: Iterable[Link]) -> Iterator[tuple[int, Link]]:
    plain = here.base.partition("?")[0]
    stem = _TAIL.sub("", plain)
    for link in links:
        if link.url.startswith(stem):  # cheap test that excludes most links
            bases = (here.base,) if "?" in link.url else (here.base, plain)  # /1.html?from=list
            is_first = link.url in bases
            there = PageUrl(link.url, 0) if is_first else parse_page_url(link.url)
            if there.base in bases and there.number != here.number:
                yield there.number, link


def _wholes(base: str, links: Iterable[Link]) -> Iterator[str]:
    """Yield the URLs of pages with the whole article."""
    for link in links:
        if _WHOLE.match(link.anchor) and _extends(base, link.url):
            yield link.url


def _extends(base: str, url: str) -> bool:
    """Return whether a URL is that of a document with a further parameter or mark."""
    own, other = split_url(base), split_url(url)
    pairs, others = parse_qsl(own.query), parse_qsl(other.query)
    if own[:2] != other[:2] or own.path in ("", "/"):
        return False
    if other.query and not set(pairs) <= set(others):
        return False
    if own.path == other.path:
        return len(others) > len(pairs)
    stem = _TAIL.sub("", own.path)
    rest = other.path.removeprefix(stem)
    return rest != other.path and _OF_WHOLE.fullmatch(rest) is not None


def joined(article: Article, text: str, images: Iterable[str] = ()) -> Article:
    r"""Append the text of the next page to an article, without lines that it already has.

    >>> from topiccrawl.model import Article
    >>> joined(Article("http://a.test/1", "题", "导读。\n一。"), "导读。\n二。").body
    '导读。\n一。\n二。'
    """
    old = article.body.split("\n")
    known = {fold(line) for line in old}
    new = [line for line in text.split("\n") if fold(line) not in known]
    cut = fold(old[-1])
    if cut and any(fold(line).startswith(cut) for line in new):
        del old[-1]
    body = "\n".join((*old, *new))
    pictures = tuple(dict.fromkeys((*article.images, *images)))
    return replace(article, body=body, images=pictures, digest=digest_of(body))
