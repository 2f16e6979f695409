"""Texts of articles in the scripts of a page that shows nothing without its scripts.

Such pages hold the article as JSON: JSON-LD with ``articleBody``, ``__NEXT_DATA__``, or an object
that is assigned to a variable (``window.__INITIAL_STATE__``).
"""

from __future__ import annotations

import json
import re
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from topiccrawl.text.digest import fold

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from selectolax.lexbor import LexborHTMLParser

LARGEST = 2_000_000
"""Most characters of a script that is read."""

MOST_OBJECTS = 20_000
"""Most objects and lists of a page that are searched."""

SHORTEST = 400
"""Fewest bytes (UTF-8) of letters of a text: 133 Chinese characters."""

_RIVAL = 0.5
"""Length of a second text, as a share of the longest, from which the page is a list of texts."""

_LENIENT = json.JSONDecoder(strict=False)
_OBJECT = re.compile(r"(?:[\w.$\s\[\]\"']{1,80}=\s*)?(?=[{\[])")
_TAG = re.compile(r"<[^<>]*>")
_SENTENCE = re.compile(r"[。！？]|[.!?](?:\s|$)")
_TITLES = ("headline", "title")
_TIME = re.compile(r"publi|pub_?(?:time|date)|^(?:c|create_?)(?:time|d_?at)$|^date", re.IGNORECASE)


class _LongText(NamedTuple):
    """A long text in an object; ``size`` is that of its letters."""

    size: int
    text: str
    title: str
    times: str


def embedded_article(tree: LexborHTMLParser, title: str) -> str:
    """Return the article in the scripts of a page as markup, or "" if there is none or several.

    Args:
        tree: The parsed page.
        title: Text of ``<title>``.

    >>> from topiccrawl.links.limits import parse_html
    >>> state = {"news": {"title": "车展", "text": "车展今天开幕。" * 40, "pubTime": "2026-01-12"}}
    >>> page = f"<title>车展_新闻</title><script>window.S={json.dumps(state)};</script>"
    >>> embedded_article(parse_html(page), "车展_新闻")[:65]
    '<article><h1>车展</h1><time datetime="2026-01-12"></time><p>车展今天开幕。'
    """
    nodes = islice(_nodes(tree), MOST_OBJECTS)
    texts = {one.text: one for node in nodes if isinstance(node, dict) for one in _texts(node)}
    found = sorted(texts.values(), key=lambda one: -one.size)
    headline = fold(title)
    named = [one for one in found if (own := fold(one.title)) and own in headline]
    chosen = (named or found)[:1]
    if not chosen or (not named and len(found) > 1 and found[1].size > _RIVAL * found[0].size):
        return ""
    return _markup(chosen[0])


def _nodes(tree: LexborHTMLParser) -> Iterator[Any]:
    """Yield the objects and lists of all scripts that begin with one."""
    for script in tree.css("script"):
        stack = list(_values(script.text()))
        while stack:
            one = stack.pop()
            yield one
            inner = one.values() if isinstance(one, dict) else one
            stack += [part for part in inner if isinstance(part, (dict, list))]


def _values(script: str) -> Iterator[Any]:
    if len(script) > LARGEST:
        return
    text = script.lstrip()
    text = unquote(text) if text.startswith("%7B") else text
    start = _OBJECT.match(text)
    if start is None:
        return
    try:
        value, _ = _LENIENT.raw_decode(text, start.end())
    except (ValueError, RecursionError):
        return
    yield value


def _texts(node: Mapping[str, Any]) -> Iterator[_LongText]:
    """Yield the long texts of an object, with its headline and times."""
    texts = [value for value in node.values() if isinstance(value, str) and _is_long(value)]
    if texts:
        title, times = _title(node), _times(node)
        yield from (_LongText(_size(text), text, title, times) for text in texts)


def _is_long(text: str) -> bool:
    return 3 * len(text) >= SHORTEST <= _size(text) and _SENTENCE.search(text) is not None


def _size(text: str) -> int:
    return len(fold(_TAG.sub(" ", text)).encode("utf-8", "ignore"))


def _title(node: Mapping[str, Any]) -> str:
    return next((one for name in _TITLES if isinstance(one := node.get(name), str)), "")


def _times(node: Mapping[str, Any]) -> str:
    """Return the values that may be times as markup; others (publisher) are ignored later."""
    values = (node[name] for name in node if _TIME.search(name))
    stated = (str(value) for value in values if isinstance(value, (str, int)))
    return "".join(f'<time datetime="{escape(one)}"></time>' for one in stated)


def _markup(found: _LongText) -> str:
    text = found.text.encode("utf-8", "ignore").decode()  # without halves of surrogates
    if not _TAG.search(text):
        text = "".join(f"<p>{escape(line)}</p>" for line in text.split("\n") if line.strip())
    headline = f"<h1>{escape(found.title)}</h1>" if found.title else ""
    return f"<article>{headline}{found.times}{text}</article>"
