"""Headline of a page, without names of site and channel."""

from __future__ import annotations

import re
from collections import defaultdict
from html import unescape
from itertools import islice
from typing import TYPE_CHECKING

from topiccrawl.extract.blocks import Block, ancestors, names_of
from topiccrawl.extract.boilerplate import is_byline
from topiccrawl.extract.bylines import author_in, has_only_names
from topiccrawl.links.urls import is_home
from topiccrawl.text.digest import fold
from topiccrawl.text.normal import simplify

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from selectolax.lexbor import LexborHTMLParser, LexborNode

LONGEST = 300
"""Most characters of a headline."""

MIN_LETTERS = 6
"""Minimum letters of an h1 that is a headline."""

_SITE = re.compile(
    r"网$|网站|频道|新闻|日报|晚报|时报|早报|门户|首页|论坛|社区|博客|在线|客户端|电视台|资讯|中心|专题|"
    r"(?:政府|委员会)$|数字报|"
    r"^[^的了是在到没过还]*(?:大学|学院|医院|(?:[省市县区州]|国家)\w{1,8}[局厅])$|"
    r"新浪|搜狐|网易|腾讯|凤凰|人民|新华|央视|澎湃|财经|体育|娱乐|科技|军事|汽车|房产|教育|"
    r"\.com|\.cn|\.net|\.org|\bnews\b|\btimes\b|\bpost\b|\bjournal\b|\bdaily\b|\b(?-i:Blog)\b",
    re.IGNORECASE,
)
_HARD = re.compile(r"[_|｜]|\s[-–—·•»:]{1,2}\s|--")
"""Separators that rarely occur inside a headline."""
_LOWER_CASE_WORD = re.compile(r"\s[a-zß-öø-ÿ]{4,}|^[a-zß-öø-ÿ]{2,}\s")
"""A lower-case word; names of sites are capitalized."""
_SOFT = re.compile(r"——|(?<![a-z])[-–—]|[-–—](?![a-z])")
_TAIL = 20
"""Most characters of a site or channel name in a Chinese title."""
_SHARE = 0.4
"""Minimum share of ``<title>`` that a heading must cover."""

_FIRST, _INSIDE, _LINKED, _SHARED, _WEAK = 1.5, 1.4, 1.3, 1.1, 0.3
"""Votes of the first h1, of a heading contained in ``<title>``, of the headline in JSON-LD, of the
first meta element (written for other sites, so it needs agreement of another text), and of other
texts."""

_ABOVE = 6
"""Most lines above a body in which a headline without a heading is searched."""

_MAX_ANCESTORS = 6
"""Ancestors of a heading that are searched for a breadcrumb trail."""

Stated = tuple["Sequence[str]", "Sequence[str]"]
"""Headlines in JSON-LD, and in meta elements."""

NONE: Stated = ((), ())


def headline(
    stated: Stated, title: str, headings: Sequence[str], site: str = "", h1: int = 0
) -> str:
    """Determine the headline by a vote of h1, metadata, ``<title>`` and other headings.

    Of several h1, one that metadata repeat counts as the first.

    Args:
        stated: Headlines in JSON-LD, and in meta elements, most trusted first.
        title: Text of ``<title>``.
        headings: Texts of headings, h1 first.
        site: Name of the site in the metadata, or "".
        h1: Number of headings that are h1.

    >>> headline(NONE, "国足三比零获胜-搜狐体育", ["搜狐体育", "国足三比零获胜"])
    '国足三比零获胜'
    >>> headline(NONE, "22年前退货一方是火箭_体育_腾讯网", [])
    '22年前退货一方是火箭'
    >>> headline(((), ["Rain - and more rain"]), "Rain - and more rain | The Valley Post", [])
    'Rain - and more rain'
    >>> headline(((), ["Rain &amp; ice"]), "Ice: Valley Post", ["Rain & ice"], h1=1)
    'Rain & ice'
    >>> headline(NONE, "Rain is coming - but how will the roads be", [])
    'Rain is coming - but how will the roads be'
    """
    headings = [" ".join(one.split()) for one in headings]
    votes: defaultdict[str, float] = defaultdict(float)
    texts: dict[str, str] = {}
    longer = fold(title[: 4 * LONGEST])
    whole = {fold(one[: 4 * LONGEST]) for one in headings[:h1]}
    for text, vote in _candidates(stated, title, headings, h1):
        own = fold(text)
        ended = text in headings and own != longer and longer.startswith(own)
        trimmed = _trim(text, site, whole, sure=not ended)
        key = fold(trimmed)
        if key and key != fold(site):
            votes[key] += vote
            texts.setdefault(key, trimmed)
    if votes:
        return texts[max(votes, key=votes.__getitem__)]
    named = {fold(one) for one in (*stated[0], *stated[1])}
    return site if fold(site) in named & whole else ""


def shown_headline(title: str, above: Sequence[Block]) -> str:
    """Return the line above the byline or date of a body, or a title whose begin is shown, too.

    For headlines that only ``<title>`` states, which may be the name of the site on each page.

    Args:
        title: Headline by ``<title>``.
        above: Lines above the body.
    """
    own = fold(title)
    lines = [(fold(one.text[: 4 * LONGEST]), one) for one in above]
    begins = any(text and own.startswith(text) and not one.links for text, one in lines)
    below = False  # whether a byline or date is below the line
    for text, one in reversed(lines[-_ABOVE:]):
        ended = below and one.text.endswith((")", "）"))  # a headline may end with its day
        if (is_byline(one.text) and not ended) or author_in(one.text):
            below = True
        elif sum(map(str.isalpha, text)) >= MIN_LETTERS:
            shown = below and not one.links and "。" not in one.text
            others = begins or text in own or has_only_names(one.text)
            shown &= own.startswith(text) or not others
            return one.text[:LONGEST] if shown else title
    return title


def headings_of(tree: LexborHTMLParser, stated: Stated, title: str) -> tuple[list[str], int]:
    """Return the texts of headings for ``headline``, and the number of those that count as h1.

    An h1 that links to the root of the site is the site's name and ignored. An h1 in a breadcrumb
    trail is ignored, too; if there is no other h1, the first h2 counts as h1. An h3 counts if it is
    contained in ``<title>``. Kickers are removed if a stated headline begins with the other part;
    a byline or time at the end of a heading is removed, too, unless it is stated with it.

    >>> from selectolax.lexbor import LexborHTMLParser
    >>> page = LexborHTMLParser("<nav><h1>Storm report, live</h1></nav>"
    ...     "<h2><i>Weather</i><b>Storm hits coast</b></h2>")
    >>> headings_of(page, ((), ["Storm hits coast"]), "Storm report, live")
    (['Storm hits coast'], 1)
    """
    first, second = [one for one in tree.css("h1")[:10] if not _is_home(one)], tree.css("h2")[:20]
    known = [fold(text) for text in (*stated[0], *stated[1], title)]
    visible = [one for one in first if not _is_crumb(one)]
    if first and not visible:
        visible, second = second[:1], second[1:]
    third = [
        one for one in tree.css("h3")[:20] if _covers(fold(one.text()[: 4 * LONGEST]), known[-1])
    ]
    return [_without_kicker(one, known) for one in (*visible, *second, *third)], len(visible)


def _is_home(heading: LexborNode) -> bool:
    """Return whether a heading only consists of a link to the root of a site."""
    link = heading.css_first("a[href]")
    if link is None or len(text := heading.text()) > 4 * LONGEST or fold(link.text()) != fold(text):
        return False
    return is_home((link.attributes.get("href") or "").strip())


def _is_crumb(heading: LexborNode) -> bool:
    near = islice(ancestors(heading), _MAX_ANCESTORS)
    return any(node.tag == "nav" or "crumb" in names_of(node).lower() for node in near)


def _without_kicker(heading: LexborNode, known: Sequence[str]) -> str:
    parts = [text for one in heading.iter() if (text := one.text(separator="")).strip()]
    last = fold(parts[-1]) if len(parts) > 1 else ""
    if len(last) >= MIN_LETTERS and any(text.startswith(last) for text in known):
        return parts[-1]
    text = heading.text(separator="")
    if not parts or not is_byline(parts[-1]) or any(fold(text) in one for one in known):
        return text
    own = text.removesuffix(parts[-1])
    return own if len(fold(own)) >= MIN_LETTERS else text


def _candidates(
    stated: Stated, title: str, headings: Sequence[str], h1: int
) -> Iterator[tuple[str, float]]:
    whole = fold(title[: 4 * LONGEST])
    known = set(map(fold, (*stated[0], *stated[1])))
    own = [one for one in headings[:h1] if len(fold(one)) >= MIN_LETTERS and len(one) <= LONGEST]
    own.sort(key=lambda one: fold(one) not in known)
    inside = [one for one in headings if len(one) <= LONGEST and _covers(fold(one), whole)]
    for texts, first in ((own, _FIRST), (stated[0], _LINKED), (stated[1], _SHARED)):
        yield from ((unescape(one), _WEAK if place else first) for place, one in enumerate(texts))
    yield from ((one, _INSIDE) for one in sorted(inside, key=len, reverse=True)[:1])
    yield title, _WEAK
    if not (own or inside):
        yield from ((one, _WEAK / 2) for one in dict.fromkeys(headings))


def _covers(heading: str, title: str) -> bool:
    return bool(heading) and heading in title and len(heading) >= _SHARE * len(title)


def _trim(text: str, site: str, whole: Collection[str], *, sure: bool) -> str:
    """Fold the blanks of a title and remove names of site and channel at its end.

    Args:
        text: The title.
        site: Name of the site in the metadata, or "".
        whole: Folded texts of h1, in which only ``site`` is a name after a ``_SOFT`` separator.
        sure: Whether ``_HARD`` separators precede names; false for a heading that ``<title>``
            repeats before the name of the site.
    """
    text = " ".join(text[: 4 * LONGEST].split())
    while True:
        shorter = _without_tail(text, site, whole, sure=sure)
        if shorter == text:
            return text[:LONGEST]
        text = shorter


def _without_tail(text: str, site: str, whole: Collection[str], *, sure: bool) -> str:
    for separator, hard in ((_HARD, True), (_SOFT, False)):
        found = list(separator.finditer(text))
        if not found:
            continue
        last = found[-1]
        head, tail = text[: last.start()].strip(), text[last.end() :].strip()
        if not hard and head[-1:].isdigit() and tail[:1].isdigit():  # a score, or years
            continue
        if not hard and fold(text) in whole and fold(tail) != fold(site):
            continue
        if head and _is_name(tail, head, site, sure=hard and sure):
            return head
    return text


def _is_name(tail: str, head: str, site: str, *, sure: bool) -> bool:
    if not tail or (site and fold(tail) == fold(site)):
        return True
    if len(tail) > (_TAIL if not tail.isascii() else 2 * _TAIL):
        return False
    if sure and not _LOWER_CASE_WORD.search(tail) and len(fold(head)) > len(fold(tail)):
        return True
    return bool(_SITE.search(simplify(tail)))
