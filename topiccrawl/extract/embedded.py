"""Articles and lists in the scripts of a page that shows nothing without its scripts.

Such pages hold them as JSON: JSON-LD with ``articleBody``, ``__NEXT_DATA__``, or an object that is
assigned to a variable (``window.__INITIAL_STATE__``).
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
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from selectolax.lexbor import LexborHTMLParser

LARGEST = 2_000_000
"""Most characters of a script that is read."""

MOST_OBJECTS = 20_000
"""Most objects and lists of a page that are searched."""

SHORTEST = 400
"""Fewest bytes (UTF-8) of letters of a text: 133 Chinese characters."""

_ABOVE = 3
"""Most objects and lists around a text that are searched for its headline and time."""

_RIVAL = 0.5
"""Length of a second text, as a share of the longest, from which the page is a list of texts."""

_LENIENT = json.JSONDecoder(strict=False)
_OBJECT = re.compile(r"(?:[\w.$\s\[\]\"']{1,80}=\s*)?(?=[{\[])")
_TAG = re.compile(r"<[^<>]*>")
_SENTENCE = re.compile(r"[。！？]|[.!?](?:\s|$)")
_TITLES = ("headline", "title")
_URLS = ("url", "link")
_URL = re.compile(r"(?:https?:/)?[\w.-]*/[^\s<>\"]{1,500}")
_TIME = re.compile(
    r"publi|(?:pub|news)_?(?:time|date)|^(?:c|create_?)(?:time|d_?at)$|^date", re.IGNORECASE
)


class _LongText(NamedTuple):
    """A long text; ``size`` is that of its letters, ``own`` if its object has the title.

    ``nodes`` are its object and those around it, inner first.
    """

    size: int
    text: str
    title: str
    own: bool
    nodes: Sequence[Mapping[str, Any]]


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
    texts = {one.text: one for places in _objects(tree) for one in _texts(places)}
    found = sorted(texts.values(), key=lambda one: -one.size)
    headline = fold(title)
    named = [one for one in found if (own := fold(one.title)) and own in headline]
    chosen = ([one for one in named if one.own] or named or found)[:1]
    if not chosen or (not named and len(found) > 1 and found[1].size > _RIVAL * found[0].size):
        return ""
    return _markup(chosen[0])


def embedded_links(tree: LexborHTMLParser) -> str:
    """Return the links in the scripts of a page as markup: objects with a headline and a URL.

    >>> from topiccrawl.links.limits import parse_html
    >>> state = [{"title": "车展今天开幕", "url": "/2026/1.html"}, {"title": "专题", "url": "car"}]
    >>> embedded_links(parse_html(f"<script>window.S={json.dumps(state)};</script>"))
    '<ul><li><a href="/2026/1.html">车展今天开幕</a></ul>'
    """
    nodes = [places[0] for places in _objects(tree)]
    pairs = ((_first(node, _URLS), _first(node, _TITLES)) for node in nodes)
    links = {url: title for url, title in pairs if title.strip() and _URL.fullmatch(url)}
    items = "".join(f'<li><a href="{escape(url)}">{escape(one)}</a>' for url, one in links.items())
    return f"<ul>{items}</ul>".encode("utf-8", "ignore").decode() if items else ""


_Places = tuple[Any, ...]
"""An object or list, followed by those that contain it, inner first."""


def _objects(tree: LexborHTMLParser) -> Iterator[_Places]:
    return (one for one in islice(_nodes(tree), MOST_OBJECTS) if isinstance(one[0], dict))


def _nodes(tree: LexborHTMLParser) -> Iterator[_Places]:
    """Yield the objects and lists of all scripts that begin with one."""
    for script in tree.css("script"):
        stack: list[_Places] = [(value,) for value in _values(script.text())]
        while stack:
            places = stack.pop()
            yield places
            inner = places[0].values() if isinstance(places[0], dict) else places[0]
            above = places[:_ABOVE]
            parts = [(part, *above) for part in inner if isinstance(part, (dict, list))]
            stack += reversed(parts)


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


def _texts(places: _Places) -> Iterator[_LongText]:
    """Yield the long texts of an object, with the headline of the nearest object."""
    texts = [value for value in places[0].values() if isinstance(value, str) and _is_long(value)]
    if texts:
        nodes = [one for one in places if isinstance(one, dict)]
        titles = [_first(one, _TITLES) for one in nodes]
        title, own = next(filter(None, titles), ""), bool(titles[0])
        yield from (_LongText(_size(text), text, title, own, nodes) for text in texts)


def _is_long(text: str) -> bool:
    return 3 * len(text) >= SHORTEST <= _size(text) and _SENTENCE.search(text) is not None


def _size(text: str) -> int:
    return len(fold(_TAG.sub(" ", text)).encode("utf-8", "ignore"))


def _first(node: Mapping[str, Any], names: Iterable[str]) -> str:
    return next((one for name in names if isinstance(one := node.get(name), str)), "")


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
    times = next(filter(None, map(_times, found.nodes)), "")
    return f"<article>{headline}{times}{text}</article>"
