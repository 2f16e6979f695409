"""The one place where a page becomes a tree: no page may block a crawler or fill its memory.

An HTML parser takes time that grows with the square of the nesting, of a tag's attributes, of the
options of a list, and memory that grows with the formatting elements left open times the
paragraphs behind them: 200,000 open ``<div>`` in 1 MB took 165 s, 100,000 attributes 26 s, 130 kB
of ``<font>`` and ``<p>`` 10 GB. Pages of that kind are changed here, before they are parsed, in
time that grows with their length; pages written for readers stay far below these bounds.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser

if TYPE_CHECKING:
    from collections.abc import Collection

MAX_HTML = 5_000_000
"""Characters of a page that are read."""

MAX_TAGS = 200_000
"""Tags of a page that are read, some 100 MB of elements; the largest hubs have 20,000."""

MAX_DEPTH = 1_000
"""Elements open at once, in a page of many tags; browsers stop at 512."""

_MANY_TAGS = 5_000
"""Pages with fewer tags are not checked for depth: they cost little, and old pages close none."""

MAX_TAG = 100_000
"""Characters of one tag; a picture inside a page may need many."""

MAX_ATTRIBUTES = 150
"""Attributes of one tag, or up to a ``>`` inside of a value: twenty are many; 60,000 cost 8 s."""

MAX_HIDDEN = 150
"""Values with a ``>`` in them, which hide the ends of tags; with more, all quotes are removed."""

MAX_OPTIONS = 2_000
"""Options of a page's lists: for each the parser checks all before it, 2,000 take 20 ms. A list
of all towns of a country has fewer."""

MAX_ROOTS = 2_000
"""``<html>`` and ``<body>`` tags; the parser merges their attributes."""

MAX_REOPENED = 1_000_000
"""Formatting elements that may be opened again for paragraphs behind them; each takes 400 bytes."""

_SPACE = r"[ \t\n\f\r]"
_SHORT_TAG = 2 * MAX_ATTRIBUTES
"""Characters of a tag that cannot have more than ``MAX_ATTRIBUTES``."""
_ALIKE = 3
"""Identical formatting elements that a parser keeps open at most."""

_HIDDEN = re.compile(rf"={_SPACE}*(?:\"[^\">]*>|'[^'>]*>)")
_LONG_TAG = re.compile(rf"(</?[a-zA-Z])([^>]{{{_SHORT_TAG},}})")
_LONG_PART = re.compile(
    rf"(</?[a-zA-Z]|={_SPACE}*(?:\"[^\">]*>[^\"]*\"|'[^'>]*>[^']*'))([^>]{{{_SHORT_TAG},}})"
)
"""Start of a tag, or end of a value with a ``>`` in it, and much that may be attributes; takes ten
times as long as ``_LONG_TAG``, which serves pages without such values."""
_ATTRIBUTE = re.compile(
    rf"(?:{_SPACE}|/)*+=?[^ \t\n\f\r/>=]*+"
    rf"(?:{_SPACE}*+={_SPACE}*+(?:\"[^\"]*+\"?|'[^']*+'?|[^ \t\n\f\r>]*+))?+"
)
_START = re.compile(r"</?[a-zA-Z]")
_TAG = re.compile(r"<(/?)([a-zA-Z][^ \t\n\f\r/>]*)")
_CLOSED = rf"(?:[^<>\"'=/]|/(?!>)|={_SPACE}*+(?:\"[^\"<>]*\"|'[^'<>]*'|[^ \t\n\f\r\"'<>]++))*+/>"
_TAG_DRAWN = re.compile(rf"{_TAG.pattern}(?!{_CLOSED})")
"""Tags except self-closing ones, which are valid inside of drawings and formulae."""


def _named(names: str) -> re.Pattern[str]:
    return re.compile(rf"<(/?)(?:{names})(?=[ \t\n\f\r/>])", re.IGNORECASE)


_FORMATS = "b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u"
_FORMAT, _OPTION, _ROOT = _named(_FORMATS), _named("option|optgroup"), _named("html|body")
_FORMAT_WHOLE = re.compile(rf"<(?:{_FORMATS})(?:[ \t\n\f\r/][^<>]*)?>?", re.IGNORECASE)
_DRAWING = _named("svg|math")
_DRAWN = _named("path|circle|rect|use|line|polyline|polygon|ellipse|stop|image")
_VOID = "area base br col embed hr img input link meta param source track wbr"
_NO_LEVEL = frozenset(f"{_VOID} a p li dt dd tr td th tbody thead tfoot option button".split())
"""Names whose open tags do not pile up."""
_NO_LEVEL_DRAWN = frozenset({"br", "embed", "hr", "img", "meta", "p", "li", "dt", "dd"})
"""The same in pages with drawings or formulae."""


def parsed(html: str) -> LexborHTMLParser:
    """Return the elements of a page, or of as much of it as can be parsed in a few seconds.

    Every page is parsed here, or its HTML was serialized from a tree that was.

    >>> parsed("<p>as it was").html
    '<html><head></head><body><p>as it was</p></body></html>'
    """
    return LexborHTMLParser(tamed(html))


@lru_cache(maxsize=1)  # links and the article are read from the same page
def tamed(html: str) -> str:
    """Return the page without parts that are expensive to parse; text and links stay if possible.

    >>> tamed("<p>as it was"), len(tamed("<div>" * 300_000))
    ('<p>as it was', 5000)
    """
    html = html[:MAX_HTML]
    if html.count("<") > MAX_TAGS:
        html = "<".join(html.split("<", MAX_TAGS)[:-1])
    html = _with_few_attributes(html)
    tags = html.count("<")
    if tags > min(MAX_OPTIONS, MAX_ROOTS):
        html = _with_few(_OPTION, html, MAX_OPTIONS, r"<\1wbr")
        html = _with_few(_ROOT, html, MAX_ROOTS, r"<\1span")
    if tags * tags > 4 * MAX_REOPENED and _reopened(html, tags) > MAX_REOPENED:
        html = _FORMAT.sub(r"<\1span", html)
    return _of_depth(html) if tags > _MANY_TAGS else html


def _with_few(pattern: re.Pattern[str], html: str, most: int, instead: str) -> str:
    """Rename tags where there are too many; a changed name cannot create new markup."""
    return pattern.sub(instead, html) if len(pattern.findall(html)) > most else html


def _reopened(html: str, tags: int) -> int:
    """Return an upper bound of the formatting elements that are opened again."""
    found = _FORMAT_WHOLE.findall(html)
    whole = [tag for tag in found if tag.endswith(">")]
    return tags * min(len(found), _ALIKE * len(set(whole)) + len(found) - len(whole))


def _with_few_attributes(html: str) -> str:
    """End long tags after the allowed attributes and characters; the rest of the tag is dropped."""
    if len(html) <= _SHORT_TAG:
        return html
    hidden = len(_HIDDEN.findall(html))
    if hidden > MAX_HIDDEN:
        html = html.replace('"', "").replace("'", "")
    return (_LONG_PART if hidden else _LONG_TAG).sub(_ended, html)


def _ended(tag: re.Match[str]) -> str:
    """Return the allowed start of a possible tag; the end of a script or comment stays."""
    head, rest = tag.groups()
    ends = (one.end() for one in _ATTRIBUTE.finditer(rest))
    kept = max((end for end in islice(ends, MAX_ATTRIBUTES - 1) if end <= MAX_TAG), default=0)
    if not rest[kept:].strip(" \t\n\f\r/"):
        return tag[0]
    closing = rest.find("</", kept)
    last = " >" + rest[closing:] if closing >= 0 else " --" if rest.endswith("--") else " "
    return f"{head}{rest[:kept]}{last}"


def _of_depth(html: str) -> str:
    """Return the page up to the place at which too many elements are open."""
    if not _DRAWING.search(html):
        return html[: _abyss(_TAG, html, _NO_LEVEL)]
    if _abyss(_TAG_DRAWN, html, _NO_LEVEL_DRAWN) is None:
        return html
    html = _DRAWN.sub(r"<\1wbr", _DRAWING.sub(r"<\1span", html))
    return html[: _abyss(_TAG, html, _NO_LEVEL)]


def _abyss(pattern: re.Pattern[str], html: str, flat: Collection[str]) -> int | None:
    """Return the first place with more than ``MAX_DEPTH`` open elements, counted by tag name."""
    unclosed: Counter[str] = Counter()
    depth = 0
    for place, (slash, name) in enumerate(pattern.findall(html)):
        name = name.lower()  # noqa: PLW2901
        if name in flat:
            continue
        if not slash:
            unclosed[name] += 1
            depth += 1
            if depth > MAX_DEPTH:
                return next(islice(pattern.finditer(html), place, None)).start()
        elif unclosed[name]:
            unclosed[name] -= 1
            depth -= 1
    return None
