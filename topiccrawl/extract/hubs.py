"""Extraction of the article list of a hub page: links, dates and next page.

A list is a box with similar children that each contain one link with a title: ``li`` in ``ul``,
``tr`` in ``table``, ``div`` in ``div``. Of several lists, the one whose links look most like
articles is used. Dates next to the links distinguish it from menus and most-read charts.
"""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime
from itertools import islice, pairwise
from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.extract.blocks import ancestors
from topiccrawl.extract.dates import published
from topiccrawl.extract.pagination import parse_page_url
from topiccrawl.links.limits import parse_html
from topiccrawl.links.newsurls import news_likelihood
from topiccrawl.links.scripted import scripted_next
from topiccrawl.links.urls import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable

    from selectolax.lexbor import LexborHTMLParser, LexborNode

MIN_ITEMS = 3
"""Minimum number of items in a list."""

MIN_TITLE = 6
"""Minimum mean letters of the titles; menu entries have two to four."""

MIN_SAME_TAG = 0.6
"""Minimum share of items with the most common tag."""

DATED = 1.5
"""Factor on the score of a list in which most items have a date."""

_HEIGHT = 6  # most elements between a link and the box of its list
_ENOUGH = 40  # letters of a title that count
_TITLE = 200
_SHORT_DATE = re.compile(
    r"(?<![\d-])(?P<month>1[0-2]|0?[1-9])[-/.月](?P<day>3[01]|[12]\d|0?[1-9])(?:日|(?![\d.-]))"
    r"(?:\s*(?P<time>\d{1,2}:\d\d))?"
)

_ARROWS = r"[\s»›→>＞▶►▸]*"
_NEXT = re.compile(
    rf"^[\s\[【(（]*(?:(?:下|后)一?[页頁张張]|next(?: ?page)?|older(?: posts| entries)?|weiter"
    rf"|nächste(?: seite)?|(?:page )?suivante?|(?:página )?siguiente|próxima(?: página)?"
    rf"|(?:pagina )?successiva|volgende(?: pagina)?|следующая|次(?:の?ページ|へ)|다음(?: 페이지)?)"
    rf"{_ARROWS}[\]】)）\s]*$",
    re.IGNORECASE,
)
_ARROW = re.compile(r"^\s*(?:»|›|→|>{1,2}|＞|▶|►|▸)\s*$")
_MORE = re.compile(
    r"^\W*(?:(?:点击)?(?:加载|查看|显示)?更多|(?:load|show|view|see) more)\W*$", re.IGNORECASE
)
_PAGE_NUMBER = re.compile(r"^\W*第?(\d{1,4})页?\W*$")
_LINKS = "a[href], area[href], link[rel][href], button, [data-url], [data-href], [data-next]"
_PLAIN = ("href", "data-href", "data-url", "data-next", "formaction")
"""Attributes with a URL, including those of buttons that load it by script."""


class Item(NamedTuple):
    """One entry of a list.

    Attributes:
        url: Canonical URL.
        title: Text of the link.
        published: Date from the list or the URL in ISO 8601, or "".
    """

    url: str
    title: str
    published: str


class HubList(NamedTuple):
    """Entries of a hub.

    Attributes:
        items: Distinct entries in page order.
        next_page: Canonical URL of the list's next page, or None.
    """

    items: tuple[Item, ...]
    next_page: str | None


class _Entry(NamedTuple):
    link: LexborNode
    url: str
    title: str
    box: LexborNode


def hub_list(
    html: str, url: str, fetched_at: float = 0.0, encoding: str = "utf-8"
) -> HubList | None:
    """Extract the article list of a page; return None if it has none.

    Args:
        html: Decoded page.
        url: The page's URL.
        fetched_at: Seconds since the epoch; gives missing years and the latest accepted date.
        encoding: Encoding of the page, for query strings.

    >>> page = "".join(f"<li>03-0{n} <a href=/2026030{n}/n{n}0000.html>第{n}条消息的标题</a>"
    ...     for n in range(1, 5)) + "</ul><a href=/list_2.html>下一页</a>"
    >>> found = hub_list(f"<ul>{page}", "http://a.test/list.html")
    >>> found.items[0]
    Item(url='http://a.test/20260301/n10000.html', title='第1条消息的标题', published='2026-03-01')
    >>> found.next_page
    'http://a.test/list_2.html'
    """
    tree = parse_html(html)
    lists = _lists(tree, url, encoding)
    best = max(lists, key=lambda entries: _score(entries, fetched_at), default=None)
    if best is None:
        return None
    once = {entry.url: entry for entry in reversed(best)}
    items = tuple(_item(entry, fetched_at) for entry in best if once.get(entry.url) is entry)
    return HubList(items, next_page_url(html, url, encoding, tree) or None)


def has_list(html: str, url: str) -> bool:
    """Return whether ``hub_list`` finds a list, without reading its dates and next page.

    >>> has_list("<ul>" + "".join(f"<li><a href={n}>第{n}条消息的标题</a>" for n in range(3)), "http://a.test/")
    True
    """
    return bool(_lists(parse_html(html), url))


def _lists(tree: LexborHTMLParser, url: str, encoding: str = "utf-8") -> list[list[_Entry]]:
    """Return the entries of each list of a page."""
    boxes: dict[int, dict[int, _Entry]] = {}
    base = _base(tree, url)
    for link in tree.css("a"):
        target = canonical(link.attributes.get("href") or "", base, encoding)
        if target is not None and target != url:
            _add_to_boxes(boxes, link, target)
    return [list(items.values()) for items in boxes.values() if _is_list(items.values())]


def _base(tree: LexborHTMLParser, url: str) -> str:
    """Return the URL that relative links of a page refer to."""
    base = tree.css_first("base[href]")
    return url if base is None else canonical(base.attributes["href"] or "", url) or url


def _add_to_boxes(boxes: dict[int, dict[int, _Entry]], link: LexborNode, target: str) -> None:
    """Add a link to all boxes that may list it; the longest link of each child is kept."""
    title = " ".join(link.text().split())[:_TITLE]
    for child, parent in islice(pairwise(ancestors(link)), _HEIGHT):
        if parent.tag in {"body", "html"}:
            return
        items = boxes.setdefault(parent.mem_id, {})
        known = items.get(child.mem_id)
        if known is None or len(known.title) < len(title):
            items[child.mem_id] = _Entry(link, target, title, child)


def _is_list(entries: Iterable[_Entry]) -> bool:
    tags = [entry.box.tag for entry in entries]
    letters = sum(len(entry.title) for entry in entries)
    if len(tags) < MIN_ITEMS or letters < MIN_TITLE * len(tags):
        return False
    return Counter(tags).most_common(1)[0][1] >= MIN_SAME_TAG * len(tags)


def _score(entries: list[_Entry], fetched_at: float) -> float:
    likelihood = sum(
        news_likelihood(entry.url) * min(len(entry.title), _ENOUGH) / _ENOUGH for entry in entries
    )
    dated = sum(bool(_date(entry, fetched_at, by_url=False)) for entry in entries)
    return likelihood * (DATED if 2 * dated > len(entries) else 1.0)


def _item(entry: _Entry, fetched_at: float) -> Item:
    return Item(entry.url, entry.title, _date(entry, fetched_at))


def _date(entry: _Entry, fetched_at: float, *, by_url: bool = True) -> str:
    """Return the date next to a link; a missing year or date is taken from the URL.

    A date without a year is the last one before the fetch.
    """
    around = entry.box.text(separator=" ").replace(entry.link.text(), " ")
    url = entry.url if by_url else ""
    found = published((), [around], "", "zh", fetched_at)
    short = _SHORT_DATE.search(around)
    if found or short is None:
        return found or published((), (), url, "zh", fetched_at)
    by_address = published((), (), entry.url, "zh", fetched_at)
    this = datetime.fromtimestamp(fetched_at, tz=UTC).year
    written = f"-{int(short['month']):02}-{int(short['day']):02} {short['time'] or ''}"
    years = [by_address[:4]] if by_address else [this, this - 1]
    days = (published((), [f"{year}{written}"], "", "zh", fetched_at) for year in years)
    return next(filter(None, days), "")


def next_page_url(
    html: str, url: str, encoding: str = "utf-8", tree: LexborHTMLParser | None = None
) -> str:
    """Return the URL of the next page of a list, or "".

    Signs by descending reliability: ``rel=next`` (of ``<link>`` or an anchor); a link with a text
    such as 下一页 or Next; the number after this page's own; an arrow between numbers; a "more"
    button whose URL is another page of the same list; ``scripted_next``. Other buttons with only a
    script have no URL.

    Args:
        html: The decoded page.
        url: URL of the page.
        encoding: Encoding of the page, for query strings.
        tree: Result of ``parse_html(html)``, if available.

    >>> next_page_url('<a href="?p=1">1</a><b>2</b><a href="?p=3">3</a>', "http://a.test/list?p=2")
    'http://a.test/list?p=3'
    >>> next_page_url('<a href="/b">下一页 ›</a>', "http://a.test/a")
    'http://a.test/b'
    >>> next_page_url('<script>createPageHTML(9, 0, "index", "htm")</script>', "http://a.test/")
    'http://a.test/index_1.htm'
    >>> next_page_url('<a href="/n">更多</a>', "http://a.test/")
    ''
    """
    tree = tree or parse_html(html)
    base, ranked = _base(tree, url), dict[int, str]()
    for node in tree.css(_LINKS):
        if target := _target(node, url, base, encoding):
            ranked.setdefault(_sign(node, url, target), target)
    if (best := min(ranked, default=_NO_SIGN)) < _NO_SIGN:
        return ranked[best]
    scripted = scripted_next(html)
    return (canonical(scripted, base, encoding) or "") if scripted else ""


_REL, _TEXT, _NEXT_NUMBER, _NEXT_ARROW, _MORE_BUTTON, _NO_SIGN = range(6)


def _target(node: LexborNode, url: str, base: str, encoding: str) -> str:
    """Return the URL of a link or button to another page that may be followed, or ""."""
    attributes = node.attributes
    if "nofollow" in (attributes.get("rel") or "").lower().split():
        return ""
    given = (attributes[name] or "" for name in _PLAIN if name in attributes)
    targets = (canonical(one, base, encoding) or url for one in given)
    return next((target for target in targets if target != url), "")


def _sign(node: LexborNode, url: str, target: str) -> int:
    """Return the rank of the sign that a link leads to the next page, or ``_NO_SIGN``."""
    attributes = node.attributes
    if "next" in (attributes.get("rel") or "").lower().split():
        return _REL
    named = (node.text(), *(attributes.get(name) or "" for name in ("title", "aria-label")))
    text, *hints = (" ".join(name.split()) for name in named)
    text = text or hints[0] or _image(node)
    if any(map(_NEXT.match, (text, *hints))):
        return _TEXT
    here, there = parse_page_url(url), parse_page_url(target)
    same = here.base == there.base or url.partition("?")[0] == target.partition("?")[0]
    counted = _PAGE_NUMBER.match(text)
    if counted and same and int(counted[1]) == max(here.number, 1) + 1:
        return _NEXT_NUMBER
    ahead = same and there.number in (0, max(here.number, 1) + 1)
    if _ARROW.match(text) and ahead:
        return _NEXT_ARROW
    return _MORE_BUTTON if _MORE.match(text) and ahead and there.number else _NO_SIGN


def _image(node: LexborNode) -> str:
    image = node.css_first("img[alt]")
    return "" if image is None else image.attributes.get("alt") or ""
