"""What is read of a page that means harm: no page may hold a crawler up for minutes.

An HTML parser takes time that grows with the square of the nesting and of a tag's attributes:
200,000 open ``<div>`` in 1 MB took 165 s, 100,000 attributes 26 s. Pages of that kind are cut here,
before they are parsed; no page that somebody wrote for readers comes near these bounds.
"""

from __future__ import annotations

import re
from collections import Counter

MAX_HTML = 5_000_000
"""Characters of a page that are read."""

MAX_DEPTH = 1_000
"""Elements open at once, in a page of many tags; browsers stop at 512."""

MAX_TAG = 100_000
"""Characters of one tag; a picture inside a page may need many."""

_MANY_TAGS = 20_000
"""Fewer cost at most a second however they are nested, and are not looked at."""

_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9:-]*)")
_VOID = "area base br col embed hr img input link meta param source track wbr"
_SELF_CLOSING = "a p li dt dd tr td th tbody thead tfoot option optgroup rp rt button"
_DRAWN = "path circle rect use line polyline polygon ellipse stop image"
_NO_LEVEL = frozenset(f"{_VOID} {_SELF_CLOSING} {_DRAWN}".split())
"""Names whose open tags do not pile up."""


def tamed(html: str) -> str:
    """Return the page, or as much of it as can be parsed in a few seconds.

    >>> tamed("<p>as it was"), len(tamed("<div>" * 300_000))
    ('<p>as it was', 5000)
    """
    html = html[:MAX_HTML]
    if len(html) > MAX_TAG:
        html = _without_long_tags(html)
    return _cut_at_depth(html) if html.count("<") > _MANY_TAGS else html


def _without_long_tags(html: str) -> str:
    parts = html.split(">")
    if all(len(part) <= MAX_TAG for part in parts):
        return html
    kept, code = [], False
    for part in parts:
        kept.append(part if code or len(part) <= MAX_TAG else part.partition("<")[0])
        code = part.rpartition("<")[2][:6].lower() in {"script", "style"}
    return ">".join(kept)


def _cut_at_depth(html: str) -> str:
    """Return the page up to where too many elements are open, by a count of tags of each name."""
    unclosed: Counter[str] = Counter()
    depth = 0
    for tag in _TAG.finditer(html):
        name = tag.group(2).lower()
        if name in _NO_LEVEL:
            continue
        step = -1 if tag.group(1) else 1
        if step > 0 or unclosed[name]:
            unclosed[name] += step
            depth += step
        if depth > MAX_DEPTH:
            return html[: tag.start()]
    return html
