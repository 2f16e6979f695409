"""Layout of a page: lines of text with their table cell, element and zone."""

from __future__ import annotations

import re
from itertools import accumulate, product
from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.addons.records.templates.labels import ORNAMENT, SIGN, SIGNED, icon_kind
from topiccrawl.addons.records.templates.values.plain import decode_cfemail
from topiccrawl.addons.records.templates.values.value import OBJECT, SOFT
from topiccrawl.extract.blocks import ADDRESSES, BREAKS, INVISIBLE
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
_ICON_TAGS = frozenset({"i", "span", "em", "svg", "b"})
_MARKED = frozenset({"span", "label", "b", "strong", "em", "i", "font", "a", "time", "u", "big"})
_STRONG = frozenset({"b", "strong"})
_BOXES = BREAKS | {"html"}
"""Elements that are boxes; a page of frames has text in no element but the root."""
_SKIPPED = INVISIBLE - _ENTRIES - {"noscript"}  # shown without scripts
_BLANKS = re.compile(r"[^\S\x1f]+")
_HIDDEN = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|(?:^|[;\s])(?:left|top|right)\s*:\s*-\d{3,}",
    re.IGNORECASE,
)
_ZONES = {
    "footer": r"foot|copyright|copy-?right|bottom|beian",
    "links": r"friend|flink|partner|yqlj|(?:^|[\s_-])links?(?:$|[\s_-])",
    "nav": r"(?:^|[\s_-])nav|menu|crumb|pager|pagination",
    "header": r"header|top-?bar|(?:^|[\s_-])(?:top|head)(?:$|[\s_-])",
    "side": r"side-?bar|aside|(?:^|[\s_-])(?:side|left_?nav)(?:$|[\s_-])",
}
_ZONE = {zone: re.compile(pattern, re.IGNORECASE) for zone, pattern in _ZONES.items()}
_ZONE_TAGS = {"footer": "footer", "nav": "nav", "header": "header", "aside": "side"}
_SPREAD = re.compile(r"(?:[\u3400-\u9fff] +){5,}[\u3400-\u9fff]")
"""A heading with spaces between its characters: 四 方 软 件 公 司."""


class Cell(NamedTuple):
    """Table cell of a line: numbers of table, row and column."""

    table: int
    row: int
    column: int


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
    """A block element: tag, zone, index of its parent box (-1: none), and lines (``begin:end``)."""

    tag: str
    zone: str
    parent: int
    begin: int
    end: int


class Layout(NamedTuple):
    """Lines and boxes of a page, with its metadata.

    Attributes:
        lines: Lines in page order; lines without text only if they have an image or a link.
        boxes: Block elements, outer before inner; the first is the root.
        title: Text of ``<title>``.
        tree: The parsed page, for its metadata.
    """

    lines: tuple[Line, ...]
    boxes: tuple[Box, ...]
    title: str
    tree: LexborHTMLParser


def read_layout(html: str) -> Layout:
    r"""Return the layout of a page; never raises.

    >>> page = read_layout("<table><tr><th>电　话<td>０２８</table><p>QQ：<b>1</b>2")
    >>> [(line.text, tuple(line.cell)) for line in page.lines[:2] if line.cell]
    [('电 话', (0, 0, 0)), ('028', (0, 0, 1))]
    >>> page.lines[2].text
    'QQ:\x1f1\x1f2'
    """
    tree = parse_html(html)
    walk, title = _Walk(), tree.css_first("title")
    if tree.root is not None:
        walk.run(tree.root)
    return Layout(
        tuple(_content_links(_bounded(walk.lines))),
        tuple(walk.boxes),
        normalise(" ".join(title.text().split())) if title is not None else "",
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
        self.cell: Cell | None = None

    def next_row(self) -> None:
        self.row += 1
        self.column = -1

    def next_cell(self, across: int, down: int) -> None:
        self.row = max(self.row, 0)
        self.column += 1
        while (self.row, self.column) in self.occupied:
            self.column += 1
        rows, columns = range(self.row, self.row + down), range(self.column, self.column + across)
        self.occupied.update(product(rows, columns))
        self.cell = Cell(self.number, self.row, self.column)
        self.column += across - 1


class _Walk:
    """Traversal of an HTML tree that collects lines and boxes."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.boxes: list[Box] = []
        self._box = -1
        self._tables: list[_Table] = []
        self._count = 0
        self._hidden = 0
        self._strong = 0
        self._plain = False
        self._text = ""
        self._marks: list[Mark] = []
        self._links: list[tuple[int, str]] = []

    def run(self, root: LexborNode) -> None:
        stack = [(root, False)]
        while stack:
            node, left = stack.pop()
            tag = node.tag or ""
            if left:
                self._leave(tag)
                continue
            if tag == "-text":
                self._write(node.text_content or "")
                continue
            if not self._enter(node, tag):
                continue
            stack.append((node, True))
            child = node.last_child
            while child is not None:
                stack.append((child, False))
                child = child.prev

    def _write(self, text: str) -> None:
        if self._hidden or len(self._text) > LONGEST_LINE:
            return
        text = _BLANKS.sub(" ", normalise(text))
        begin = 0
        for sign in SIGNED.finditer(text):
            self._append(text[begin : sign.start()])
            self._marks.append(Mark("icon", len(self._text), len(self._text), SIGN[sign[0][0]]))
            begin = sign.end()
        self._append(text[begin:])

    def _append(self, text: str) -> None:
        text = ORNAMENT.sub("", text)
        if not self._text or self._text[-1] == " ":
            text = text.lstrip(" ")
        self._plain |= bool(text.strip()) and not self._strong
        self._text += text

    def _soft(self) -> None:
        if self._text and self._text[-1] not in SOFT + " ":
            self._text += SOFT

    def _enter(self, node: LexborNode, tag: str) -> bool:
        """Enter a node; return whether to visit its children (and to call ``_leave`` then)."""
        values = node.attributes
        if tag in _SKIPPED:
            return False
        if tag in _ENTRIES:
            self._text += "" if values.get("type") == "hidden" else OBJECT
            return False
        if tag == "img":
            self._image(values)
        if tag == "br":
            self._flush()
            return False
        if tag in _BOXES:
            self._begin(tag, values)
        self._inline(tag, values)
        self._hidden += bool(self._hidden or _is_hidden(values))
        return True

    def _inline(self, tag: str, values: dict[str, str | None]) -> None:
        if tag in _MARKED:
            self._soft()
        self._strong += tag in _STRONG
        if tag == "a":
            anchor = "name" in values or "id" in values
            self._links.append((len(self._text), values.get("href") or "#" * (not anchor)))
        if code := values.get("data-cfemail"):
            self._write(decode_cfemail(code) or "")
        names = values.get("class") if tag in _ICON_TAGS else None
        if tag == "use":
            names = values.get("href") or values.get("xlink:href")
        label = values.get("aria-label") or (values.get("title") if tag in _TITLED else None)
        if kind := icon_kind(names) or icon_kind(label):
            self._marks.append(Mark("icon", len(self._text), len(self._text), kind))

    def _image(self, values: dict[str, str | None]) -> None:
        source = next((value for name in ADDRESSES if (value := values.get(name))), "")
        if not source or self._hidden:
            return
        place, instead = len(self._text), normalise(values.get("alt") or "")
        if instead.strip(" ()[]").lower() in {"@", "at"}:
            self._append("@")
            return
        self._marks.append(Mark("image", place, place, source, instead))
        self._soft()

    def _begin(self, tag: str, values: dict[str, str | None]) -> None:
        self._flush()
        around = "main" if self._box < 0 else self.boxes[self._box].zone
        zone = _zone(tag, f"{values.get('class') or ''} {values.get('id') or ''}", around)
        self.boxes.append(Box(tag, zone, self._box, len(self.lines), len(self.lines)))
        self._box = len(self.boxes) - 1
        if tag == "table":
            self._tables.append(_Table(self._count))
            self._count += 1
        elif self._tables and tag == "tr":
            self._tables[-1].next_row()
        elif self._tables and tag in {"td", "th"}:
            spans = [_span(values.get(name)) for name in ("colspan", "rowspan")]
            self._tables[-1].next_cell(*spans)

    def _leave(self, tag: str) -> None:
        self._hidden -= bool(self._hidden)
        if tag == "a" and self._links:
            start, href = self._links.pop()
            if href and not self._hidden:
                self._marks.append(Mark("link", min(start, len(self._text)), len(self._text), href))
        if tag in _MARKED:
            self._soft()
        self._strong -= tag in _STRONG
        if tag not in _BOXES:
            return
        self._flush()
        box = self.boxes[self._box] = self.boxes[self._box]._replace(end=len(self.lines))
        self._box = box.parent
        if tag == "table":
            self._tables.pop()
        elif self._tables and tag in {"td", "th"}:
            self._tables[-1].cell = None

    def _flush(self) -> None:
        text = self._text.rstrip(" " + SOFT)[:LONGEST_LINE]
        if not self._marks and _SPREAD.fullmatch(text):
            text = text.replace(" ", "")
        if self._marks or OBJECT in text or any(map(str.isalnum, text)):
            cell = self._tables[-1].cell if self._tables else None
            box = self.boxes[self._box]
            marks = tuple(
                mark._replace(start=min(mark.start, len(text)), end=min(mark.end, len(text)))
                for mark in self._marks
            )
            self.lines.append(
                Line(text, self._box, box.tag, box.zone, cell, marks, not self._plain)
            )
        self._text = ""
        self._plain = False
        self._marks = []
        self._links = [(0, href) for _, href in self._links]


def _is_hidden(values: dict[str, str | None]) -> bool:
    return "hidden" in values or bool(_HIDDEN.search(values.get("style") or ""))


def _span(value: str | None) -> int:
    return min(int(value), 20) or 1 if value and value.isdecimal() and len(value) < 4 else 1  # noqa: PLR2004


def _zone(tag: str, names: str, around: str) -> str:
    if tag in _ZONE_TAGS and (tag != "header" or around == "main"):
        return _ZONE_TAGS[tag]
    if names.strip():
        for zone, pattern in _ZONE.items():
            if pattern.search(names):
                return zone
    return around
