"""HTML parsing with bounded time and memory; all pages are parsed here.

The time of an HTML parser grows with the square of the nesting depth, of the attributes of a tag
and of the options of a list. Its memory grows with the number of unclosed formatting elements times
the number of following paragraphs. Measured: 165 s for 200,000 unclosed ``<div>`` in 1 MB, 26 s for
100,000 attributes, 10 GB for 130 kB of ``<font>`` and ``<p>``. Such pages are changed before they
are parsed, in time linear in their length. Normal pages stay far below these bounds.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

from topiccrawl.errors import expect
from topiccrawl.links.scripted import with_embedded_lists

if TYPE_CHECKING:
    from collections.abc import Collection

MAX_HTML = 5_000_000
"""Most characters read from a page."""

MAX_TAGS = 200_000
"""Most tags read from a page, about 100 MB of elements; the largest hubs have 20,000."""

MAX_DEPTH = 1_000
"""Most open elements in a page with many tags; browsers stop at 512."""

_MANY_TAGS = 5_000
"""Tags below which depth is not checked: such pages are cheap, and old pages close no tags."""

MAX_TAG = 100_000
"""Most characters of one tag; an inline image (``data:`` URL) may need many."""

MAX_ATTRIBUTES = 150
"""Most attributes of one tag, or before a ``>`` inside a value; 60,000 take 8 s."""

MAX_HIDDEN = 150
"""Most attribute values that contain ``>``, which hides the end of a tag; above it, all quotes are
removed."""

MAX_OPTIONS = 2_000
"""Most ``<option>`` tags; a list of all towns of a country has fewer. A parser with events compares
each with all before it: 2,000 take 14 ms instead of 0.7."""

MAX_ROOTS = 2_000
"""Most ``<html>`` and ``<body>`` tags; the parser merges their attributes."""

MAX_REOPENED = 1_000_000
"""Most formatting elements that the parser may reopen in later paragraphs; each takes 400 bytes."""

_SPACE = r"[ \t\n\f\r]"
_SHORT_TAG = 2 * MAX_ATTRIBUTES
"""Characters of a tag below which it cannot exceed ``MAX_ATTRIBUTES``."""
_MAX_IDENTICAL = 3
"""Most identical formatting elements that a parser keeps open."""

_HIDDEN = re.compile(rf"={_SPACE}*+(?:\"(?=[^\">]*>)|'(?=[^'>]*>))")
"""Start of an attribute value that contains ``>``, up to its quote."""
_LONG_TAG = re.compile(rf"(</?[a-zA-Z])([^>]{{{_SHORT_TAG},}})")
_LONG_REST = re.compile(rf"[^>]{{{_SHORT_TAG},}}")
_ATTRIBUTE = re.compile(
    rf"(?:{_SPACE}|/)*+=?[^ \t\n\f\r/>=]*+"
    rf"(?:{_SPACE}*+={_SPACE}*+(?:\"[^\"]*+\"?|'[^']*+'?|[^ \t\n\f\r>]*+))?+"
)
_START = re.compile(r"</?[a-zA-Z]")
_TAG = re.compile(r"<(/?)([a-zA-Z][^ \t\n\f\r/>]*)")
_CLOSED = rf"(?:[^<>\"'=/]|/(?!>)|={_SPACE}*+(?:\"[^\"<>]*\"|'[^'<>]*'|[^ \t\n\f\r\"'<>]++))*+/>"
_TAG_IN_VECTOR = re.compile(rf"{_TAG.pattern}(?!{_CLOSED})")
"""Tags except self-closing ones, which are valid inside SVG and MathML."""


def _tags(names: str) -> re.Pattern[str]:
    return re.compile(rf"<(/?)(?:{names})(?=[ \t\n\f\r/>])", re.IGNORECASE)


_FORMATS = "b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u"
_FORMAT, _OPTION, _ROOT = _tags(_FORMATS), _tags("option|optgroup"), _tags("html|body")
_FORMAT_WHOLE = re.compile(rf"<(?:{_FORMATS})(?=[ \t\n\f\r/>])[^<>]*>?", re.IGNORECASE)
_VECTOR = _tags("svg|math")
_VECTOR_SHAPES = _tags("path|circle|rect|use|line|polyline|polygon|ellipse|stop|image")
_VOID = "area base br col embed hr img input link meta param source track wbr"
_NO_LEVEL = frozenset(f"{_VOID} a p li dt dd tr td th tbody thead tfoot option button".split())
"""Elements whose unclosed tags do not nest."""
_NO_LEVEL_IN_VECTOR = frozenset({"br", "embed", "hr", "img", "meta", "p", "li", "dt", "dd"})
"""The same in pages with SVG or MathML."""


def parse_html(html: str) -> LexborHTMLParser:
    """Parse a page, without soft hyphens and the parts that would take more than a few seconds.

    All HTML is parsed by this function, or was serialized from a tree that it returned. The parser
    runs without events of changes, which only serve ``<selectedcontent>``.

    >>> parse_html("<p>un&shy;changed").html
    '<html><head></head><body><p>unchanged</p></body></html>'
    """
    html = limit_markup(html).replace("\xad", "").replace("&shy;", "")
    return LexborHTMLParser(html, options=LexborDocumentOptions.WO_EVENTS)


@lru_cache(maxsize=1)  # links and article are read from the same page
def limit_markup(html: str) -> str:
    """Remove markup that is expensive to parse; text and links are kept if possible.

    Raises:
        TypeError: It is not text, but bytes, for example.

    >>> limit_markup("<p>unchanged"), len(limit_markup("<div>" * 300_000))
    ('<p>unchanged', 5000)
    """
    expect(html, str, "a page is text", "see topiccrawl.decode")
    html = with_embedded_lists(html[:MAX_HTML])
    if html.count("<") > MAX_TAGS:
        html = "<".join(html.split("<", MAX_TAGS)[:-1])
    html = _limit_attributes(html)
    tags = html.count("<")
    if tags > min(MAX_OPTIONS, MAX_ROOTS):
        html = _limit_tags(_OPTION, html, MAX_OPTIONS, r"<\1wbr")
        html = _limit_tags(_ROOT, html, MAX_ROOTS, r"<\1span")
    if tags * tags > 4 * MAX_REOPENED and _reopened_bound(html, tags) > MAX_REOPENED:
        html = _FORMAT.sub(r"<\1span", html)
    return _limit_depth(html) if tags > _MANY_TAGS else html


def _limit_tags(pattern: re.Pattern[str], html: str, limit: int, replacement: str) -> str:
    """Replace tags if there are too many; the replacement cannot create new markup."""
    return pattern.sub(replacement, html) if len(pattern.findall(html)) > limit else html


def _reopened_bound(html: str, tags: int) -> int:
    """Return an upper bound of the formatting elements that the parser reopens."""
    found = _FORMAT_WHOLE.findall(html)
    whole = [tag for tag in found if tag.endswith(">")]
    return tags * min(len(found), _MAX_IDENTICAL * len(set(whole)) + len(found) - len(whole))


def _limit_attributes(html: str) -> str:
    """Cut long tags after the allowed number of attributes and characters.

    Attributes are counted from the start of a tag, and from the end of each value that contains
    ``>``, since the tag continues there.
    """
    values = list(islice(_HIDDEN.finditer(html), MAX_HIDDEN + 1))
    if len(values) > MAX_HIDDEN:
        html = html.replace('"', "").replace("'", "")
        values = []
    for end in sorted({_value_end(html, value) for value in values}, reverse=True):
        if rest := _LONG_REST.match(html, end):
            html = html[:end] + _cut_attributes(rest[0]) + html[rest.end() :]
    return _LONG_TAG.sub(lambda tag: tag[1] + _cut_attributes(tag[2]), html)


def _value_end(html: str, value: re.Match[str]) -> int:
    """Return the position after a value that contains ``>``, or the end of a page in the value."""
    quote = value[0][-1]
    end = html.find(quote, html.find(">", value.end()))
    return end + 1 if end >= 0 else len(html)


def _cut_attributes(rest: str) -> str:
    """Return the allowed part of possible attributes; the end of a script or comment is kept."""
    ends = (one.end() for one in _ATTRIBUTE.finditer(rest))
    kept = max((end for end in islice(ends, MAX_ATTRIBUTES - 1) if end <= MAX_TAG), default=0)
    if not rest[kept:].strip(" \t\n\f\r/"):
        return rest
    closing = rest.find("</", kept)
    last = " >" + rest[closing:] if closing >= 0 else " --" if rest.endswith("--") else " "
    return rest[:kept] + last


def _limit_depth(html: str) -> str:
    """Cut the page at the position where too many elements are open."""
    if not _VECTOR.search(html):
        return html[: _depth_limit_at(_TAG, html, _NO_LEVEL)]
    if _depth_limit_at(_TAG_IN_VECTOR, html, _NO_LEVEL_IN_VECTOR) is None:
        return html
    html = _VECTOR_SHAPES.sub(r"<\1wbr", _VECTOR.sub(r"<\1span", html))
    return html[: _depth_limit_at(_TAG, html, _NO_LEVEL)]


def _depth_limit_at(pattern: re.Pattern[str], html: str, flat: Collection[str]) -> int | None:
    """Return the first position with more than ``MAX_DEPTH`` open elements, counted by tag name."""
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
