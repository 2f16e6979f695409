"""Likelihood that a URL of an unknown site is a news article, from the form of the URL alone.

The score is the logistic function of a sum of feature weights (log-odds). The weights are set by
hand from the URL conventions of news sites: a date and a long number mark an article, a bare
directory marks a hub, and some words mark other pages. Nothing was fitted to a collection.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import NamedTuple

from topiccrawl.links.skeletons import NUMBER, OPAQUE, SLUG, Address, address, skeleton

USER_CONTENT = frozenset("blog blogs bbs forum forums guba tieba weibo zhidao wenda".split())  # noqa: SIM905
"""Words of user-generated pages: no news, but possibly on topic."""

NON_NEWS = USER_CONTENT | frozenset(
    """
    ad ads adv advert advertise adserver banner click promo allyes
    comment comments pinglun reply gentie
    login logout passport register reg signin signup
    about aboutus contactus sitemap copyright privacy
    """.split()  # noqa: SIM905
)
"""Words of pages that are never news (advert, blog, forum, account)."""

DOUBTFUL = frozenset(
    """
    promotion sponsor union club ask quan qun space survey vote account user users member my
    usercenter search so sou query cart shop mall buy item product price contact help terms
    job jobs zhaopin share print download app apps api redirect jump t s
    """.split()  # noqa: SIM905
)
"""Words of pages that are rarely news; on a few sites they name a news channel."""

GALLERIES = frozenset(
    "photo photos pic pics picture album slide gallery video videos v tv live music".split()  # noqa: SIM905
)
"""Words of pages with little text."""

HUBS = frozenset(
    """
    index default list lists more home main column channel node roll page pages archive archives
    tag tags topic category cat special zt zhuanti
    """.split()  # noqa: SIM905
)
"""Words of pages that list other pages."""

ARTICLES = frozenset(
    """
    article articles content detail details story doc news view show a artikel read post posts
    noticia noticias actualite nachricht shownews storypage
    """.split()  # noqa: SIM905
)
"""Words of article pages."""

_PAGERS = frozenset(("page", "p", "pn", "pageno", "paged", "pageindex", "curpage"))
_SEARCH_PARAMS = frozenset("q query wd word words keyword keywords kw key search".split())  # noqa: SIM905
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
_WORDS = re.compile(r"[A-Za-z]{2,}(?=-|\Z)")
_LETTERS = re.compile(r"[A-Za-z]+[0-9]?(?![A-Za-z0-9])|[A-Za-z]+")
_DIRECTORIES = 4
_INTERCEPT = -1.5
"""Log-odds of an article for a URL without any of the properties."""


class _Form(NamedTuple):
    """Judgement of a page by the form of its URL."""

    likelihood: float  # of a news article
    hub: bool
    non_news: bool
    user_content: bool


def is_non_news(url: str) -> bool:
    """Return whether the words of a URL mark a page that is no news: advert, blog, forum, account.

    >>> is_non_news("http://blog.a.test/u/1.html"), is_non_news("http://a.test/blogger-wins.html")
    (True, False)
    """
    return _form(url).non_news


def is_user_content(url: str) -> bool:
    """Return whether the words of a URL mark a user-generated page: blog, forum.

    >>> is_user_content("http://blog.a.test/u/1.html"), is_user_content("http://a.test/comment/1.html")
    (True, False)
    """
    return _form(url).user_content


def is_hub_like(url: str) -> bool:
    """Return whether a URL looks like a hub: a root, a directory, ``list_2.html``.

    >>> is_hub_like("http://a.test/sport/"), is_hub_like("http://a.test/sport/index_3.shtml")
    (True, True)
    >>> is_hub_like("http://a.test/20130304/n367739936.shtml")
    False
    """
    return _form(url).hub


def news_likelihood(url: str) -> float:
    """Return the likelihood that a URL of an unknown site is an article, in [0, 1].

    >>> news_likelihood("http://a.test/20130304/n367739936.shtml") > 0.9
    True
    >>> news_likelihood("http://a.test/sport/") < 0.1
    True
    """
    return _form(url).likelihood


@lru_cache(maxsize=4_096)
def _form(url: str) -> _Form:
    """Judge a URL by its form."""
    parts, shape = address(url), skeleton(url)
    pairs = list(zip(parts.segments, shape.segments, strict=True))
    named = [part for part in parts.segments if part]
    plain = [_without_extension(part) for part, form in pairs if SLUG not in form]
    words = {word.lower() for part in plain for word in _LETTERS.findall(part)}
    query = {name.lower() for name, _ in shape.query}
    last, text = _last(pairs), shape.text.partition("/")[2]

    headline, identified = SLUG in last, _identified(parts)
    numbered = any(map(_LONG_NUMBER.search, named[-2:]))
    long_number = numbered or any(_LONG_NUMBER.fullmatch(value) for _, value in parts.query)
    # A short headline or the name of a channel. Only hyphens separate its words: encyclopedias
    # join the words of titles by underscores.
    phrase = not headline and len(_WORDS.findall(last)) > 1
    # An id of letters and digits, such as B2LA2G3.
    mixed = bool(named) and any(map(_MIXED.fullmatch, re.split(r"[-_.,~]", named[-1])))
    marked = any(mark in text for mark in (NUMBER, SLUG, OPAQUE))

    # Names of subdomains, and whole names of directories and files. With a headline, the path marks
    # no news only by words of user content. With a headline or a long number, only the host is
    # doubtful.
    labels = {label.rstrip("0123456789") for label in shape.host.split(":")[0].split(".")[:-2]}
    names = {_without_extension(form).lower() for form in shape.segments if SLUG not in form}
    user_content = not USER_CONTENT.isdisjoint(labels | names)
    non_news = user_content or not NON_NEWS.isdisjoint(labels if headline else labels | names)
    doubtful = not DOUBTFUL.isdisjoint(labels if headline or numbered else labels | names)

    # Kinds of hubs. A bare URL ends in a directory or a name without number or headline.
    root = shape.segments == ("",) and not query
    listing = _is_listing(last, shape.segments, long_number=long_number)
    pager = not query.isdisjoint(_PAGERS) and not identified
    bare = (
        not (marked or shape.query or phrase or mixed or "." in shape.segments[-1])
        and text.count("/") <= _DIRECTORIES
    )
    excluded = non_news or doubtful or shape.dated or long_number

    weights = (
        (2.5, shape.dated),
        (2.0, long_number),
        (0.5, not long_number and NUMBER in last),
        (2.5, headline),
        (2.0, OPAQUE in last or mixed),
        (1.5, phrase),
        (2.0, identified and not long_number),
        (1.0, not ARTICLES.isdisjoint(words)),
        (-3.0, not (marked or shape.dated or identified or phrase or mixed)),
        (-4.0, listing),
        (-4.0, pager),
        (-4.0, root),
        (-2.0, not headline and not GALLERIES.isdisjoint(words)),
        (-2.0, not GALLERIES.isdisjoint(shape.host.split(".")[:-2])),
        (-4.0, not query.isdisjoint(_SEARCH_PARAMS)),
        (-1.0, query and not (identified or headline or numbered)),
        (-6.0, non_news),
        (-3.0, doubtful),
    )
    odds = _INTERCEPT + sum(weight for weight, holds in weights if holds)
    hub = (root or listing or pager or bare) and not excluded
    return _Form(1 / (1 + math.exp(-odds)), hub, non_news, user_content)


def _last(pairs: list[tuple[str, str]]) -> str:
    """Return the shape of the segment that names the page.

    A language, ``amp`` or ``index.html`` after a headline or a number is left out.
    """
    named = [pair for pair in pairs if pair[1]]
    while (
        len(named) > 1
        and _ENDING.fullmatch(_without_extension(named[-1][0]))
        and _names_page(*named[-2])
    ):
        named.pop()
    return _without_extension(named[-1][1]) if named else ""


def _names_page(segment: str, form: str) -> bool:
    return SLUG in form or OPAQUE in form or bool(_LONG_NUMBER.search(segment))


def _identified(parts: Address) -> bool:
    """Return whether a query has an article id: ``?art_id=7310``, or ``?p=3289`` at the root."""
    at_root = parts.segments in {("",), ("index.php",)}
    return any(
        (_ID.fullmatch(name.lower()) and _ID_VALUE.fullmatch(value))
        or (at_root and name == "p" and _POST.fullmatch(value))
        for name, value in parts.query
    )


def _without_extension(segment: str) -> str:
    return segment.rpartition(".")[0] or segment if "." in segment else segment


def _is_listing(last: str, segments: tuple[str, ...], *, long_number: bool) -> bool:
    """Return whether the page's name is that of a list, or a number in a directory of one."""
    letters = {word.lower() for word in re.findall(r"[A-Za-z]+", re.sub(r"{\w+}", "", last))}
    if not letters and NUMBER in last and not long_number:  # page/2/
        before = [part for part in segments if part][-2:-1]
        return bool(before) and before[0].lower() in HUBS
    return SLUG not in last and not HUBS.isdisjoint(letters)
