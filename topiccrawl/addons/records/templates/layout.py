"""Layout of a page: lines of text with their table cell, element and zone."""

from __future__ import annotations

import re
from itertools import accumulate, product
from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.addons.records.templates.values.mail import decode_cfemail
from topiccrawl.addons.records.templates.values.plain import OBJECT, SOFT
from topiccrawl.addons.records.templates.words import ORNAMENT, SIGN, SIGNED, icon_kind
from topiccrawl.extract.blocks import BREAKS, INVISIBLE
from topiccrawl.links.limits import parse_html
from topiccrawl.text.normal import normalise

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

MOST_LINES = 5_000
"""Maximum number of lines per page."""
MOST_TEXT = 400_000
"""Maximum number of characters per page, over all lines; ten times those of a long page."""
LONGEST_LINE = 3_000
"""Maximum number of characters per line."""
_ENTRIES = frozenset({"input", "select", "textarea", "button"})
_TITLED = frozenset({"li", "p", "div", "span", "dd", "i", "em"})
_ICON_TAGS = frozenset({"i", "span", "em", "b"})
_MARKED = frozenset({"span", "label", "b", "strong", "em", "i", "font", "a", "time", "u", "big"})
_STRONG = frozenset({"b", "strong"})
_BOXES = BREAKS | {"html"}
"""Elements that are boxes; a page of frames has text in no element but the root."""
_SKIPPED = (INVISIBLE | {"br", "meta"}) - {"noscript", "head"}
"""Elements whose children are ignored; ``noscript`` is shown without scripts."""
_BLANKS = re.compile(r"[^\S\x1f]+")
_HIDDEN = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|(?:^|[;\s])(?:left|top|right)\s*:\s*-\d{3,}",
    re.IGNORECASE,
)
_OPEN, _CLOSED = r"(?:^|[\s_-])", r"(?:$|[\s_-])"
_ZONE_NAMES = {
    "footer": r"foot|copyright|copy-?right|bottom|beian",
    "links": rf"friend|flink|partner|yqlj|{_OPEN}links?{_CLOSED}",
    "nav": rf"{_OPEN}nav|menu|crumb|pager|pagination",
    "header": rf"header|top-?bar|{_OPEN}(?:top|head){_CLOSED}",
    "side": rf"side-?bar|aside|{_OPEN}(?:side|left_?nav){_CLOSED}",
}
"""Patterns of the classes and ids of each zone."""
_ZONES = {zone: re.compile(word, re.IGNORECASE) for zone, word in _ZONE_NAMES.items()}
_ZONE_TAGS = {"footer": "footer", "nav": "nav", "header": "header", "aside": "side"}
_SPREAD = re.compile(r"(?:[\u3400-\u9fff] +){5,}[\u3400-\u9fff]")
"""A heading with spaces between its characters: 四 方 软 件 公 司."""
_SOURCES = ("data-original", "data-src", "src")


class Cell(NamedTuple):
    """Table cell of a line: numbers of table, row and column; whether the cell is a ``th``."""

    table: int
    row: int
    column: int
    head: bool


class Mark(NamedTuple):
    """A link, image or icon at a position in a line.

    Attributes:
        what: ``link``, ``image`` or ``icon``.
        start: Offset in the text.
        end: End offset in the text; equal to ``start`` for images and icons.
        value: URL of a link or an image; kind of value of an icon.
        instead: The ``alt`` text of an image.
    """

    what: str
    start: int
    end: int
    value: str
    instead: str = ""


class Line(NamedTuple):
    """One line of text.

    Attributes:
        text: Text in NFKC; ``SOFT`` marks boundaries of inline elements, ``OBJECT`` form fields.
        box: Index of the innermost box.
        tag: Tag of the innermost block element.
        zone: ``main``, ``header``, ``nav``, ``footer``, ``side`` or ``links``.
        cell: Table cell, or None.
        marks: Links, images and icons of the line.
        bold: Whether the whole line is bold.
    """

    text: str
    box: int
    tag: str
    zone: str
    cell: Cell | None
    marks: tuple[Mark, ...] = ()
    bold: bool = False


class Box(NamedTuple):
    """A block element: its tag, the index of its parent box, and its lines (``begin:end``)."""

    tag: str
    parent: int
    begin: int
    end: int


class Layout(NamedTuple):
    """Lines and boxes of a page, with its metadata.

    Attributes:
        lines: Lines in page order; lines without text only if they have an image or a link.
        boxes: Block elements, outer before inner; the first is the root.
        title: Text of ``<title>``.
        metas: Content of meta elements by ``name`` or ``property``.
        scripts: Texts of ``application/ld+json`` scripts.
        tree: The parsed page, for microdata.
    """

    lines: tuple[Line, ...]
    boxes: tuple[Box, ...]
    title: str
    metas: dict[str, str]
    scripts: tuple[str, ...]
    tree: LexborHTMLParser


def read_layout(html: str) -> Layout:
    r"""Return the layout of a page; never raises.

    >>> page = read_layout("<table><tr><th>电　话<td>０２８</table><p>QQ：<b>1</b>2")
    >>> [(line.text, tuple(line.cell)) for line in page.lines[:2] if line.cell]
    [('电 话', (0, 0, 0, True)), ('028', (0, 0, 1, False))]
    >>> page.lines[2].text
    'QQ:\x1f1\x1f2'
    """
    tree = parse_html(html)
    walk = _Walk()
    if tree.root is not None:
        walk.run(tree.root)
    metas = {
        (one.attributes.get("property") or one.attributes.get("name") or "").lower(): normalise(
            one.attributes.get("content") or ""
        )
        for one in reversed(tree.css("meta"))
    }
    title = next((text for one in tree.css("title") if (text := one.text())), "")
    return Layout(
        tuple(_content_links(_bounded(walk.lines))),
        tuple(walk.boxes),
        normalise(" ".join(title.split())),
        metas,
        tuple(one.text() for one in tree.css("script[type*='ld+json']")),
        tree,
    )


def _bounded(lines: list[Line]) -> list[Line]:
    """Return the first lines of a page, within ``MOST_LINES`` and ``MOST_TEXT``."""
    lengths = accumulate(len(line.text) for line in lines)
    return [
        line for line, end in zip(lines[:MOST_LINES], lengths, strict=False) if end <= MOST_TEXT
    ]


def _content_links(lines: list[Line]) -> list[Line]:
    """Return the lines; a zone named "links" with mostly plain text is changed to "main"."""
    own = [line for line in lines if line.zone == "links"]
    linked = sum(any(mark.what == "link" for mark in line.marks) for line in own)
    if not own or 2 * linked > len(own):
        return lines
    return [line._replace(zone="main") if line.zone == "links" else line for line in lines]


class _Table:
    """Current position in a table; accounts for cells that span rows or columns."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.row = -1
        self.column = -1
        self.occupied: set[tuple[int, int]] = set()

    def next_row(self) -> None:
        self.row += 1
        self.column = -1

    def next_cell(self, tag: str, across: int, down: int) -> Cell:
        self.row = max(self.row, 0)
        self.column += 1
        while (self.row, self.column) in self.occupied:
            self.column += 1
        rows = range(self.row, self.row + down)
        self.occupied.update(product(rows, range(self.column, self.column + across)))
        cell = Cell(self.number, self.row, self.column, tag == "th")
        self.column += across - 1
        return cell


class _Place(NamedTuple):
    """Elements around a node: box, zone, table, cell; whether they hide or embolden it."""

    box: int = -1
    zone: str = "main"
    table: _Table | None = None
    cell: Cell | None = None
    hidden: bool = False
    strong: bool = False


class _Opened(NamedTuple):
    """An element that was entered; ``link``: number of its line, and its offset there."""

    tag: str
    place: _Place
    href: str
    link: tuple[int, int]


class _Walk:
    """Traversal of an HTML tree that collects lines and boxes."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.boxes: list[Box] = []
        self._place = _Place()
        self._tables = 0
        self._flushed = 0
        self._plain = False
        self._text = ""
        self._marks: list[Mark] = []

    def run(self, root: LexborNode) -> None:
        stack: list[LexborNode | _Opened] = [root]
        while stack:
            node = stack.pop()
            if isinstance(node, _Opened):
                self._leave(node)
            elif node.tag == "-text":
                self._write(node.text_content or "")
            elif opened := self._enter(node, node.tag or ""):
                stack.append(opened)
                child = node.last_child
                while child is not None:
                    stack.append(child)
                    child = child.prev

    def _write(self, text: str) -> None:
        if self._place.hidden or len(self._text) > LONGEST_LINE:
            return
        text = _BLANKS.sub(" ", normalise(text))
        begin = 0
        for sign in SIGNED.finditer(text):
            self._append(text[begin : sign.start()])
            self._mark("icon", SIGN[sign[0][0]])
            begin = sign.end()
        self._append(text[begin:])

    def _append(self, text: str) -> None:
        text = ORNAMENT.sub("", text)
        if not self._text or self._text[-1] == " ":
            text = text.lstrip(" ")
        self._plain |= bool(text.strip()) and not self._place.strong
        self._text += text

    def _mark(self, what: str, value: str, instead: str = "", start: int = LONGEST_LINE) -> None:
        end = len(self._text)
        self._marks.append(Mark(what, min(start, end), end, value, instead))

    def _soft(self) -> None:
        if self._text and self._text[-1] not in SOFT + " ":
            self._text += SOFT

    def _enter(self, node: LexborNode, tag: str) -> _Opened | None:
        """Enter an element; return it if its children are to be visited."""
        values = node.attributes
        if tag in _ENTRIES:
            self._text += "" if values.get("type") == "hidden" else OBJECT
        elif tag == "br":
            self._flush()
        if tag in _SKIPPED:
            return None
        around = self._place
        if tag == "img":
            self._image(values)
        if tag in _BOXES:
            self._begin(tag, values)
        if tag in _MARKED:
            self._soft()
        href = values.get("href") or "#" * (values.keys().isdisjoint({"name", "id"}))
        opened = _Opened(tag, around, href or "", (self._flushed, len(self._text)))
        self._place = self._place._replace(
            hidden=around.hidden or _is_hidden(values), strong=around.strong or tag in _STRONG
        )
        self._attributes(tag, values)
        return opened

    def _attributes(self, tag: str, values: dict[str, str | None]) -> None:
        """Read a hidden mail address, and the kind of value that an icon or a label indicates."""
        if code := values.get("data-cfemail"):
            self._write(decode_cfemail(code) or "")
        names = values.get("class") if tag in _ICON_TAGS else None
        label = values.get("aria-label") or (values.get("title") if tag in _TITLED else None)
        if kind := icon_kind(names) or icon_kind(label):
            self._mark("icon", kind)

    def _image(self, values: dict[str, str | None]) -> None:
        source = next((value for name in _SOURCES if (value := values.get(name))), "")
        instead = normalise(values.get("alt") or "")
        if not source or self._place.hidden:
            return
        if instead.strip(" ()[]").lower() in {"@", "at"}:
            self._append("@")
        else:
            self._mark("image", source, instead)
            self._soft()

    def _begin(self, tag: str, values: dict[str, str | None]) -> None:
        """Begin a box, with a table, row or cell."""
        self._flush()
        place, table = self._place, self._place.table
        names = f"{values.get('class') or ''} {values.get('id') or ''}"
        zone = "main" if tag == "html" else _zone(tag, names, place.zone)
        self._place = place._replace(box=len(self.boxes), zone=zone)
        self.boxes.append(Box(tag, place.box, len(self.lines), len(self.lines)))
        if tag == "table":
            self._place = self._place._replace(table=_Table(self._tables), cell=None)
            self._tables += 1
        elif table and tag == "tr":
            table.next_row()
        elif table and tag in {"td", "th"}:
            spans = [_span(values.get(name)) for name in ("colspan", "rowspan")]
            self._place = self._place._replace(cell=table.next_cell(tag, *spans))

    def _leave(self, opened: _Opened) -> None:
        if opened.tag == "a" and opened.href and not opened.place.hidden:
            line, start = opened.link
            self._mark("link", opened.href, start=start if line == self._flushed else 0)
        if opened.tag in _MARKED:
            self._soft()
        if opened.tag in _BOXES:
            self._flush()
            box = self._place.box
            self.boxes[box] = self.boxes[box]._replace(end=len(self.lines))
        self._place = opened.place

    def _flush(self) -> None:
        """End a line."""
        text = self._text.rstrip(" " + SOFT)[:LONGEST_LINE]
        if not self._marks and _SPREAD.fullmatch(text):
            text = text.replace(" ", "")
        if self._marks or OBJECT in text or any(map(str.isalnum, text)):
            box, zone, _, cell, *_ = self._place
            marks = tuple(
                mark._replace(start=min(mark.start, len(text)), end=min(mark.end, len(text)))
                for mark in self._marks
            )
            tag = self.boxes[box].tag
            self.lines.append(Line(text, box, tag, zone, cell, marks, not self._plain))
        self._text = ""
        self._plain = False
        self._marks = []
        self._flushed += 1


def _is_hidden(values: dict[str, str | None]) -> bool:
    return "hidden" in values or bool(_HIDDEN.search(values.get("style") or ""))


def _span(value: str | None) -> int:
    return min(int(value), 20) or 1 if value and value.isdecimal() and len(value) < 4 else 1  # noqa: PLR2004


def _zone(tag: str, names: str, around: str) -> str:
    if tag in _ZONE_TAGS and (tag != "header" or around == "main"):
        return _ZONE_TAGS[tag]
    zones = (zone for zone, pattern in _ZONES.items() if pattern.search(names))
    return next(zones, around) if names.strip() else around
