"""Score of a URL of an unknown site, by its shape alone: a table of signs and their points.

Points are log-odds, added up and squashed. They are set by hand from how news sites name their
pages: a date and a long number mark an article, a bare directory a hub, and some words mark what
is neither. Nothing here was fitted to a collection.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.links.skeletons import NUMBER, OPAQUE, SLUG, Skeleton, skeleton

if TYPE_CHECKING:
    from collections.abc import Callable

TALK = frozenset("blog blogs bbs forum forums guba tieba weibo zhidao wenda".split())  # noqa: SIM905
"""Words of pages that readers write: no news, but possibly on topic."""

ASIDE = TALK | frozenset(
    """
    ad ads adv advert advertise adserver banner click promo allyes
    comment comments pinglun reply gentie
    login logout passport register reg signin signup
    about aboutus contactus sitemap copyright privacy
    """.split()  # noqa: SIM905
)
"""Words of pages that are no news, whatever their text (advert, blog, forum, account)."""

DOUBTFUL = frozenset(
    """
    promotion sponsor union club ask quan qun space survey vote account user users member my
    usercenter search so sou query cart shop mall buy item product price contact help terms
    job jobs zhaopin share print download app apps api redirect jump t s
    """.split()  # noqa: SIM905
)
"""Words with the same meaning on most sites; on a few they name a channel of news."""

GALLERIES = frozenset(
    "photo photos pic pics picture album slide gallery video videos v tv live music".split()  # noqa: SIM905
)
"""Words of pages with little to read."""

HUBS = frozenset(
    """
    index default list lists more home main column channel node roll page pages archive archives
    tag tags topic category cat special zt zhuanti
    """.split()  # noqa: SIM905
)
"""Words of pages that list others."""

ARTICLES = frozenset(
    (
        "article",
        "articles",
        "content",
        "detail",
        "details",
        "story",
        "doc",
        "news",
        "view",
        "show",
        "a",
    )
)
"""Words of pages to read."""

_PAGERS = frozenset(("page", "p", "pn", "pageno", "paged", "pageindex", "curpage"))
_SOUGHT = frozenset("q query wd word words keyword keywords kw key search".split())  # noqa: SIM905
_IDS = frozenset(("id", "aid", "nid", "newsid", "articleid", "docid", "contentid", "tid"))
_LONG_NUMBER = re.compile(r"[0-9]{5,}")
_SHORT_NUMBER = re.compile(r"[0-9]{1,4}")
_TEXT_FILE = re.compile(r"\.(?:s?html?|html5)\Z")
_LETTERS = re.compile(r"[A-Za-z]+[0-9]?(?![A-Za-z0-9])|[A-Za-z]+")
_DIRECTORIES = 4


class _Look(NamedTuple):
    """Parts of a URL that the signs use."""

    url: str
    shape: Skeleton
    words: frozenset[str]  # of the path
    last: str  # the last segment, or the directory where the path ends in a slash
    query: frozenset[str]  # names


class Sign(NamedTuple):
    """A property of a URL and its points in log-odds."""

    name: str
    points: float
    holds: Callable[[_Look], bool]


def is_aside(url: str) -> bool:
    """Return whether a URL names itself no news: advert, blog, forum, comment, account.

    >>> is_aside("http://blog.a.test/u/1.html"), is_aside("http://a.test/blogger-wins.html")
    (True, False)
    """
    return _aside(_look(url))


def is_talk(url: str) -> bool:
    """Return whether a URL names itself a page that readers write: blog, forum.

    >>> is_talk("http://blog.a.test/u/1.html"), is_talk("http://a.test/comment/1.html")
    (True, False)
    """
    return not TALK.isdisjoint(_names(_look(url)))


def is_hub_like(url: str) -> bool:
    """Return whether a URL looks like a list of pages: a root, a directory, ``list_2.html``.

    >>> is_hub_like("http://a.test/sport/"), is_hub_like("http://a.test/sport/index_3.shtml")
    (True, True)
    >>> is_hub_like("http://a.test/20130304/n367739936.shtml")
    False
    """
    look = _look(url)
    if _aside(look) or _doubtful(look) or look.shape.dated or _long_number(look):
        return False
    return _root(look) or _listing(look) or _pager(look) or _bare(look)


def news_likelihood(url: str) -> float:
    """Return how likely a URL of an unknown site is an article, in [0, 1].

    >>> news_likelihood("http://a.test/20130304/n367739936.shtml") > 0.9
    True
    >>> news_likelihood("http://a.test/sport/") < 0.1
    True
    """
    look = _look(url)
    points = _INTERCEPT + sum(sign.points for sign in SIGNS if sign.holds(look))
    return 1 / (1 + math.exp(-points))


@lru_cache(maxsize=4_096)
def _look(url: str) -> _Look:
    shape = skeleton(url)
    path = url.partition("://")[2].partition("/")[2].partition("?")[0]
    named = [part for part in shape.segments if part]
    words = {w.lower() for part in path.split("/") for w in _LETTERS.findall(_stem(part))}
    last = _stem(named[-1]) if named else ""
    return _Look(url, shape, frozenset(words), last, frozenset(n.lower() for n, _ in shape.query))


def _stem(segment: str) -> str:
    return segment.rpartition(".")[0] or segment if "." in segment else segment


def _aside(look: _Look) -> bool:
    return not ASIDE.isdisjoint(_names(look))


def _doubtful(look: _Look) -> bool:
    return not DOUBTFUL.isdisjoint(_names(look))


def _names(look: _Look) -> list[str]:
    """Return the whole names in host and path: labels below the site, directories, files."""
    labels = look.shape.host.split(":")[0].split(".")[:-2]
    files = [_stem(part).lower() for part in look.shape.segments if SLUG not in part]
    return [*(label.rstrip("0123456789") for label in labels), *files]


def _root(look: _Look) -> bool:
    return look.shape.segments == ("",) and not look.query


def _listing(look: _Look) -> bool:
    letters = {word.lower() for word in re.findall(r"[A-Za-z]+", re.sub(r"{\w+}", "", look.last))}
    if not letters and NUMBER in look.last:  # page/2/
        before = [part for part in look.shape.segments if part][-2:-1]
        return bool(before) and before[0].lower() in HUBS
    return SLUG not in look.last and not HUBS.isdisjoint(letters)


def _pager(look: _Look) -> bool:
    return bool(look.query & _PAGERS) and not look.query & _IDS


def _bare(look: _Look) -> bool:
    """Return whether it has no number or headline and ends in a directory or a bare name."""
    text = "/".join(look.shape.segments)
    plain = not any(mark in text for mark in (NUMBER, SLUG, OPAQUE)) and not look.shape.query
    return plain and "." not in look.shape.segments[-1] and text.count("/") <= _DIRECTORIES


def _long_number(look: _Look) -> bool:
    ids = (value for part in look.url.partition("?")[2].split("&") for value in part.split("=")[1:])
    path = look.url.partition("://")[2].partition("?")[0].rstrip("/")
    last = path.rpartition("/")[2]
    return bool(_LONG_NUMBER.search(last)) or any(map(_LONG_NUMBER.fullmatch, ids))


def _nothing(look: _Look) -> bool:
    text = look.shape.text.partition("/")[2]
    return not any(mark in text for mark in (NUMBER, SLUG, OPAQUE)) and not look.shape.dated


def _gallery_host(look: _Look) -> bool:
    return not GALLERIES.isdisjoint(look.shape.host.split(".")[:-2])


_INTERCEPT = -1.5
SIGNS: tuple[Sign, ...] = (
    Sign("a date", 2.5, lambda look: look.shape.dated),
    Sign("a number of five digits or more at the end", 2.0, _long_number),
    Sign(
        "a short number at the end",
        0.5,
        lambda look: not _long_number(look) and NUMBER in look.last,
    ),
    Sign("a headline", 2.5, lambda look: SLUG in look.last),
    Sign("an opaque id", 2.0, lambda look: OPAQUE in look.last),
    Sign("a word of articles", 1.0, lambda look: not ARTICLES.isdisjoint(look.words)),
    Sign("an HTML file", 0.5, lambda look: bool(_TEXT_FILE.search(look.shape.segments[-1]))),
    Sign("neither number nor headline", -3.0, _nothing),
    Sign("a word of lists at the end", -4.0, _listing),
    Sign("a page number", -4.0, _pager),
    Sign("the root", -4.0, _root),
    Sign("a word of galleries", -2.0, lambda look: not GALLERIES.isdisjoint(look.words)),
    Sign("a gallery's host", -2.0, _gallery_host),
    Sign("words that are looked for", -4.0, lambda look: bool(look.query & _SOUGHT)),
    Sign("a query without an id", -1.0, lambda look: bool(look.query) and not look.query & _IDS),
    Sign("a word of what is no news", -6.0, _aside),
    Sign("a word of what is seldom news", -3.0, _doubtful),
)
"""Every sign and its points; the sum begins at ``_INTERCEPT``."""
