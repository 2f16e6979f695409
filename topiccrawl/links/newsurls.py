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

from topiccrawl.links.skeletons import NUMBER, OPAQUE, SLUG, Address, Skeleton, address, skeleton

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
_TEXT_FILE = re.compile(r"\.(?:s?html?|html5)\Z")
_WORDS = re.compile(r"[A-Za-z]{2,}(?=-|\Z)")
_LETTERS = re.compile(r"[A-Za-z]+[0-9]?(?![A-Za-z0-9])|[A-Za-z]+")
_DIRECTORIES = 4


class _UrlInfo(NamedTuple):
    """Parts of a URL that the features use."""

    parts: Address
    shape: Skeleton
    words: frozenset[str]  # of the path
    last: str  # last segment that names the page, without a trailing language or "amp"
    query: frozenset[str]  # parameter names
    identified: bool  # the query has an article id


def is_non_news(url: str) -> bool:
    """Return whether the words of a URL mark a page that is no news: advert, blog, forum, account.

    >>> is_non_news("http://blog.a.test/u/1.html"), is_non_news("http://a.test/blogger-wins.html")
    (True, False)
    """
    return _non_news(_info(url))


def is_user_content(url: str) -> bool:
    """Return whether the words of a URL mark a user-generated page: blog, forum.

    >>> is_user_content("http://blog.a.test/u/1.html"), is_user_content("http://a.test/comment/1.html")
    (True, False)
    """
    info = _info(url)
    return not USER_CONTENT.isdisjoint([*_labels(info), *_path_names(info)])


def is_hub_like(url: str) -> bool:
    """Return whether a URL looks like a hub: a root, a directory, ``list_2.html``.

    >>> is_hub_like("http://a.test/sport/"), is_hub_like("http://a.test/sport/index_3.shtml")
    (True, True)
    >>> is_hub_like("http://a.test/20130304/n367739936.shtml")
    False
    """
    info = _info(url)
    if _non_news(info) or _doubtful(info) or info.shape.dated or _long_number(info):
        return False
    return _root(info) or _listing(info) or _pager(info) or _bare(info)


def news_likelihood(url: str) -> float:
    """Return the likelihood that a URL of an unknown site is an article, in [0, 1].

    >>> news_likelihood("http://a.test/20130304/n367739936.shtml") > 0.9
    True
    >>> news_likelihood("http://a.test/sport/") < 0.1
    True
    """
    info = _info(url)
    weight = _INTERCEPT + sum(weight for weight, holds in _FEATURES if holds(info))
    return 1 / (1 + math.exp(-weight))


@lru_cache(maxsize=4_096)
def _info(url: str) -> _UrlInfo:
    parts, shape = address(url), skeleton(url)
    pairs = list(zip(parts.segments, shape.segments, strict=True))
    plain = [_without_extension(part) for part, form in pairs if SLUG not in form]
    words = {word.lower() for part in plain for word in _LETTERS.findall(part)}
    names = frozenset(name.lower() for name, _ in shape.query)
    return _UrlInfo(parts, shape, frozenset(words), _last(pairs), names, _identified(parts))


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


def _non_news(info: _UrlInfo) -> bool:
    """Return whether a word of the URL marks no news; with a headline only user content counts."""
    meant = USER_CONTENT if SLUG in info.last else NON_NEWS
    return not (NON_NEWS.isdisjoint(_labels(info)) and meant.isdisjoint(_path_names(info)))


def _doubtful(info: _UrlInfo) -> bool:
    names = _labels(info) if _named_page(info) else [*_labels(info), *_path_names(info)]
    return not DOUBTFUL.isdisjoint(names)


def _named_page(info: _UrlInfo) -> bool:
    """Return whether the path ends in a headline or a long number."""
    return SLUG in info.last or _numbered(info)


def _labels(info: _UrlInfo) -> list[str]:
    """Return the subdomain labels of the host."""
    labels = info.shape.host.split(":")[0].split(".")[:-2]
    return [label.rstrip("0123456789") for label in labels]


def _path_names(info: _UrlInfo) -> list[str]:
    """Return the whole names of directories and files in the path."""
    return [_without_extension(part).lower() for part in info.shape.segments if SLUG not in part]


def _root(info: _UrlInfo) -> bool:
    return info.shape.segments == ("",) and not info.query


def _listing(info: _UrlInfo) -> bool:
    letters = {word.lower() for word in re.findall(r"[A-Za-z]+", re.sub(r"{\w+}", "", info.last))}
    if not letters and NUMBER in info.last and not _long_number(info):  # page/2/
        before = [part for part in info.shape.segments if part][-2:-1]
        return bool(before) and before[0].lower() in HUBS
    return SLUG not in info.last and not HUBS.isdisjoint(letters)


def _pager(info: _UrlInfo) -> bool:
    return bool(info.query & _PAGERS) and not info.identified


def _bare(info: _UrlInfo) -> bool:
    """Return whether the URL has no number or headline and ends in a directory or a bare name."""
    text = "/".join(info.shape.segments)
    plain = not any(mark in text for mark in (NUMBER, SLUG, OPAQUE)) and not info.shape.query
    if _phrase(info) or _mixed(info):
        return False
    return plain and "." not in info.shape.segments[-1] and text.count("/") <= _DIRECTORIES


def _long_number(info: _UrlInfo) -> bool:
    return _numbered(info) or any(_LONG_NUMBER.fullmatch(value) for _, value in info.parts.query)


def _numbered(info: _UrlInfo) -> bool:
    return any(map(_LONG_NUMBER.search, [part for part in info.parts.segments if part][-2:]))


def _phrase(info: _UrlInfo) -> bool:
    """Return whether the page's name has two or more words: a short headline or a channel name.

    Only hyphens separate words here, since encyclopedias join the words of titles by underscores.
    """
    return SLUG not in info.last and len(_WORDS.findall(info.last)) > 1


def _mixed(info: _UrlInfo) -> bool:
    """Return whether the last segment has an id of letters and digits, such as ``B2LA2G3``."""
    named = [part for part in info.parts.segments if part]
    parts = re.split(r"[-_.,~]", named[-1]) if named else []
    return any(map(_MIXED.fullmatch, parts))


def _featureless(info: _UrlInfo) -> bool:
    text = info.shape.text.partition("/")[2]
    has_mark = any(mark in text for mark in (NUMBER, SLUG, OPAQUE)) or info.shape.dated
    return not (has_mark or info.identified or _phrase(info) or _mixed(info))


def _gallery_host(info: _UrlInfo) -> bool:
    return not GALLERIES.isdisjoint(info.shape.host.split(".")[:-2])


_INTERCEPT = -1.5
_FEATURES = (
    (2.5, lambda info: info.shape.dated),
    (2.0, _long_number),
    (0.5, lambda info: not _long_number(info) and NUMBER in info.last),
    (2.5, lambda info: SLUG in info.last),
    (2.0, lambda info: OPAQUE in info.last or _mixed(info)),
    (1.5, _phrase),
    (2.0, lambda info: info.identified and not _long_number(info)),
    (1.0, lambda info: not ARTICLES.isdisjoint(info.words)),
    (0.5, lambda info: _TEXT_FILE.search(info.shape.segments[-1])),
    (-3.0, _featureless),
    (-4.0, _listing),
    (-4.0, _pager),
    (-4.0, _root),
    (-2.0, lambda info: SLUG not in info.last and not GALLERIES.isdisjoint(info.words)),
    (-2.0, _gallery_host),
    (-4.0, lambda info: info.query & _SEARCH_PARAMS),
    (-1.0, lambda info: info.query and not info.identified and not _named_page(info)),
    (-6.0, _non_news),
    (-3.0, _doubtful),
)
"""Weights in log-odds of the properties of a URL; their sum begins at ``_INTERCEPT``."""
