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

from topiccrawl.links.skeletons import NUMBER, OPAQUE, SLUG, Skeleton, address, skeleton

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
        "artikel",
        "read",
        "post",
        "posts",
        "noticia",
        "noticias",
        "actualite",
        "nachricht",
        "shownews",
        "storypage",
    )
)
"""Words of pages to read."""

_PAGERS = frozenset(("page", "p", "pn", "pageno", "paged", "pageindex", "curpage"))
_SOUGHT = frozenset("q query wd word words keyword keywords kw key search".split())  # noqa: SIM905
_ID = re.compile(
    r"(?:.*[a-z_])?(?:id|guid|uid|key|no)|n?idx|(?:art|article|news|story|doc|record)(?:_?(?:no|nr))?"
)
_ID_VALUE = re.compile(r"[0-9]{2,}|(?=.*[0-9])[0-9A-Za-z_.%{}-]{6,}")
_LONG_NUMBER = re.compile(r"[0-9]{5,}")
_POST = re.compile(r"[0-9]{2,}")
_MIXED = re.compile(r"(?=[^A-Z]*[A-Z])(?=[^0-9]*[0-9][^0-9]*[0-9])[0-9A-Za-z]{6,}|[0-9a-f]{12,}")
_ENDING = re.compile(
    r"[a-z]{2}(?:[-_][A-Za-z]{2})?|amp|index|print|full|artikel|article|story|detail|[0-9]{1,2}"
)
_TEXT_FILE = re.compile(r"\.(?:s?html?|html5)\Z")
_WORDS = re.compile(r"[A-Za-z]{2,}(?=-|\Z)")
_LETTERS = re.compile(r"[A-Za-z]+[0-9]?(?![A-Za-z0-9])|[A-Za-z]+")
_DIRECTORIES = 4


class _Look(NamedTuple):
    """Parts of a URL that the signs use."""

    url: str
    shape: Skeleton
    words: frozenset[str]  # of the path
    last: str  # the last segment that names the page, without a language or "amp" behind it
    query: frozenset[str]  # names
    identified: bool  # the query has an id of an article


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
    look = _look(url)
    return not TALK.isdisjoint([*_labels(look), *_files(look)])


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
    named = _named(url, shape)
    parts = zip(address(url).segments, shape.segments, strict=True)
    plain = [_stem(part) for part, form in parts if SLUG not in form]
    words = {word.lower() for part in plain for word in _LETTERS.findall(part)}
    last = _stem(named[-1]) if named else ""
    names = frozenset(n.lower() for n, _ in shape.query)
    return _Look(url, shape, frozenset(words), last, names, _identified(url))


def _named(url: str, shape: Skeleton) -> list[str]:
    """Return the shapes of the path's segments, as far as the one that names the page.

    A language, ``amp`` or ``index.html`` behind a headline or a number says nothing of the page.
    """
    pairs = [pair for pair in zip(address(url).segments, shape.segments, strict=True) if pair[1]]
    while len(pairs) > 1 and _ENDING.fullmatch(_stem(pairs[-1][0])) and _telling(*pairs[-2]):
        pairs.pop()
    return [form for _, form in pairs]


def _telling(segment: str, form: str) -> bool:
    return SLUG in form or OPAQUE in form or bool(_LONG_NUMBER.search(segment))


def _identified(url: str) -> bool:
    """Return whether a query has an id of an article: ``?art_id=7310``, ``?p=3289`` at the root."""
    _, segments, query = address(url)
    for name, value in query:
        if _ID.fullmatch(name.lower()) and _ID_VALUE.fullmatch(value):
            return True
        if name == "p" and segments in {("",), ("index.php",)} and _POST.fullmatch(value):
            return True
    return False


def _stem(segment: str) -> str:
    return segment.rpartition(".")[0] or segment if "." in segment else segment


def _aside(look: _Look) -> bool:
    """Return whether a name in the URL means no news; above a headline only talk does."""
    meant = TALK if SLUG in look.last else ASIDE
    return not (ASIDE.isdisjoint(_labels(look)) and meant.isdisjoint(_files(look)))


def _doubtful(look: _Look) -> bool:
    if not DOUBTFUL.isdisjoint(_labels(look)):
        return True
    return not _named_page(look) and not DOUBTFUL.isdisjoint(_files(look))


def _named_page(look: _Look) -> bool:
    """Return whether the path ends in a headline or a long number."""
    return SLUG in look.last or _numbered(look)


def _labels(look: _Look) -> list[str]:
    """Return the names in the host below the site."""
    labels = look.shape.host.split(":")[0].split(".")[:-2]
    return [label.rstrip("0123456789") for label in labels]


def _files(look: _Look) -> list[str]:
    """Return the whole names in the path: directories and files."""
    return [_stem(part).lower() for part in look.shape.segments if SLUG not in part]


def _root(look: _Look) -> bool:
    return look.shape.segments == ("",) and not look.query


def _listing(look: _Look) -> bool:
    letters = {word.lower() for word in re.findall(r"[A-Za-z]+", re.sub(r"{\w+}", "", look.last))}
    if not letters and NUMBER in look.last and not _long_number(look):  # page/2/
        before = [part for part in look.shape.segments if part][-2:-1]
        return bool(before) and before[0].lower() in HUBS
    return SLUG not in look.last and not HUBS.isdisjoint(letters)


def _pager(look: _Look) -> bool:
    return bool(look.query & _PAGERS) and not look.identified


def _bare(look: _Look) -> bool:
    """Return whether it has no number or headline and ends in a directory or a bare name."""
    text = "/".join(look.shape.segments)
    plain = not any(mark in text for mark in (NUMBER, SLUG, OPAQUE)) and not look.shape.query
    if _phrase(look) or _mixed(look):
        return False
    return plain and "." not in look.shape.segments[-1] and text.count("/") <= _DIRECTORIES


def _long_number(look: _Look) -> bool:
    query = address(look.url).query
    return _numbered(look) or any(_LONG_NUMBER.fullmatch(value) for _, value in query)


def _numbered(look: _Look) -> bool:
    named = [part for part in address(look.url).segments if part][-2:]
    return any(map(_LONG_NUMBER.search, named))


def _phrase(look: _Look) -> bool:
    """Return whether the page's name has two words: a short headline, or a channel's name.

    Hyphens only: an encyclopedia joins the words of its names by underscores.
    """
    return SLUG not in look.last and len(_WORDS.findall(look.last)) > 1


def _mixed(look: _Look) -> bool:
    """Return whether the last segment has an id of letters and digits, such as ``B2LA2G3``."""
    named = [part for part in address(look.url).segments if part]
    parts = re.split(r"[-_.,~]", named[-1]) if named else []
    return any(map(_MIXED.fullmatch, parts))


def _nothing(look: _Look) -> bool:
    text = look.shape.text.partition("/")[2]
    said = any(mark in text for mark in (NUMBER, SLUG, OPAQUE)) or look.shape.dated
    return not (said or look.identified or _phrase(look) or _mixed(look))


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
    Sign("an opaque id", 2.0, lambda look: OPAQUE in look.last or _mixed(look)),
    Sign("two words", 1.5, _phrase),
    Sign("an id in the query", 2.0, lambda look: look.identified and not _long_number(look)),
    Sign("a word of articles", 1.0, lambda look: not ARTICLES.isdisjoint(look.words)),
    Sign("an HTML file", 0.5, lambda look: bool(_TEXT_FILE.search(look.shape.segments[-1]))),
    Sign("neither number nor headline", -3.0, _nothing),
    Sign("a word of lists at the end", -4.0, _listing),
    Sign("a page number", -4.0, _pager),
    Sign("the root", -4.0, _root),
    Sign(
        "a word of galleries",
        -2.0,
        lambda look: SLUG not in look.last and not GALLERIES.isdisjoint(look.words),
    ),
    Sign("a gallery's host", -2.0, _gallery_host),
    Sign("words that are looked for", -4.0, lambda look: bool(look.query & _SOUGHT)),
    Sign(
        "a query without an id",
        -1.0,
        lambda look: bool(look.query) and not look.identified and not _named_page(look),
    ),
    Sign("a word of what is no news", -6.0, _aside),
    Sign("a word of what is seldom news", -3.0, _doubtful),
)
"""Every sign and its points; the sum begins at ``_INTERCEPT``."""
