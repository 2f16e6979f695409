"""Layout of a page: text blocks in a tree of boxes, from which the body is selected."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from selectolax.lexbor import LexborNode

# fmt: off
BREAKS = frozenset((
    "address", "article", "aside", "blockquote", "body", "br", "caption", "center", "dd", "div",
    "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5",
    "h6", "header", "hr", "li", "main", "nav", "ol", "p", "pre", "section", "table", "tbody",
    "td", "tfoot", "th", "thead", "tr", "ul",
))
"""Elements that end a line."""

INVISIBLE = frozenset((
    "script", "style", "noscript", "template", "iframe", "select", "option", "button", "textarea",
    "input", "svg", "object", "embed", "canvas", "head", "title", "map", "audio", "video",
    "-comment",
))
"""Elements whose text is not visible."""

_PLAIN = frozenset((
    "abbr", "b", "big", "cite", "code", "del", "em", "i", "ins", "label", "mark", "q", "s", "small",
    "strike", "strong", "sub", "sup", "time", "tt", "u", "wbr",
))
"""Elements that never contain a body, and only contain text."""
# fmt: on

_NAME = re.compile(r"[A-Za-z_][A-Za-z_-]*\d{0,2}")
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_STREAMED = "S:"
"""Id prefix of hidden elements of streamed pages, which a script moves into place."""
_HAN = re.compile(r"[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_WORD = re.compile(r"[^\W\d_\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")
_STOP = re.compile(r"[。！？；…”，：!?]|[.,;:](?=\s|$)")

ADDRESSES = ("data-original", "data-src", "src")
"""Attributes with the URL of an image; with lazy loading it is not in ``src``."""

WORD = 2
"""Size of a non-Chinese word, in Chinese characters."""


class Box(NamedTuple):
    """An element that may contain a body.

    Attributes:
        tag: Tag name.
        parent: Number of the parent box; -1 for the root.
        names: Class and id.
        begin: Number of the first block.
        end: Number after the last block.
        node: The element.
    """

    tag: str
    parent: int
    names: str
    begin: int
    end: int
    node: LexborNode


class Block(NamedTuple):
    """One line of text.

    Attributes:
        text: Text with blanks folded, never empty.
        box: Number of the innermost box.
        tag: Tag name of the innermost line-breaking element.
        size: Size in Chinese characters; each other word counts as ``WORD``.
        linked: Share of ``size`` in links, in [0, 1].
        stops: Number of sentence punctuation marks.
        links: Number of links that begin in the block or continue into it.
    """

    text: str
    box: int
    tag: str
    size: int
    linked: float
    stops: int
    links: int = 0


class Layout(NamedTuple):
    """Blocks in page order, and the boxes that contain them.

    Attributes:
        blocks: Lines of text.
        boxes: Elements that contain the blocks, outer before inner; the first is the root.
        images: Image URLs as written, each with the number of the following block.
    """

    blocks: tuple[Block, ...]
    boxes: tuple[Box, ...]
    images: tuple[tuple[int, str], ...] = ()

    def selector(self, number: int) -> str:
        """Return a CSS selector of a box, starting at its nearest named ancestor, or "".

        >>> from selectolax.lexbor import LexborHTMLParser
        >>> page = LexborHTMLParser('<div id="main"><div><p>一</div></div>')
        >>> lay_out(page.body).selector(2)
        'div#main > div'
        """
        steps: list[str] = []
        while number >= 0:
            box = self.boxes[number]
            name = _name(box.node)
            steps.insert(0, box.tag + name)
            if name:
                return " > ".join(steps)
            number = box.parent
        return ""


def size_of(text: str) -> int:
    """Return the number of Chinese characters; each other word counts as ``WORD``.

    >>> size_of("新款 electric 汽车 2020")
    6
    """
    return _measure(text)[0]


def _measure(text: str) -> tuple[int, int]:
    """Return size and number of punctuation marks of a text."""
    characters, rest = shorten(_HAN, text)
    return characters + WORD * len(_WORD.findall(rest)), len(_STOP.findall(rest))


def shorten(runs: re.Pattern[str], text: str) -> tuple[int, str]:
    """Return the number of characters in runs, and the text with a single one for each run.

    Other patterns find the same in the shorter text in less time.

    >>> shorten(re.compile("[一-龥]+"), "新款 electric 汽车")
    (4, '一 electric 一')
    """
    parts = runs.split(text)
    rest = "一".join(parts)
    return len(text) - len(rest) + len(parts) - 1, rest


def _name(node: LexborNode) -> str:
    """Return the id or classes of an element as CSS, without those that contain page numbers."""
    values = node.attributes
    named = values.get("id") or ""
    if _NAME.fullmatch(named):
        return f"#{named}"
    return "".join(f".{one}" for one in (values.get("class") or "").split() if _NAME.fullmatch(one))


def names_of(node: LexborNode) -> str:
    """Return class and id of an element."""
    values = node.attributes
    return f"{values.get('class') or ''} {values.get('id') or ''}".strip()


def ancestors(node: LexborNode | None) -> Iterator[LexborNode]:
    """Yield an element and those that contain it, inner first."""
    while node is not None:
        yield node
        node = node.parent


def lay_out(root: LexborNode) -> Layout:
    """Compute the layout of the visible text of an element.

    >>> from selectolax.lexbor import LexborHTMLParser
    >>> page = LexborHTMLParser("<div>一<br>二 <a href=/>三</a></div><p>四</p>")
    >>> [(block.text, block.linked) for block in lay_out(page.body).blocks]
    [('一', 0.0), ('二 三', 0.5), ('四', 0.0)]
    """
    return _LayoutBuilder().build(root)


_Frame = tuple[Any, ...]
"""An open element: the method that closes it, and its arguments; () skips the children."""

_LEAF: _Frame = ()


class _LayoutBuilder:
    """Single traversal of a tree that collects blocks and boxes.

    Attributes:
        parts, anchors: Texts of the current block, and those of them in links.
        links, started_links: Number of open links, and of links in the current block.
        box: Number of the innermost open box.
        line: Tag of the innermost open box that ends a line, or "".
        hidden: Whether the innermost open box is hidden.
        codes: Number of open ``pre`` elements.
    """

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.images: list[tuple[int, str]] = []
        self.boxes: dict[int, Box] = {}
        self.parts: list[str] = []
        self.anchors: list[str] = []
        self.links = self.started_links = self.opened = self.codes = 0
        self.box, self.line, self.hidden = -1, "", False

    def build(self, root: LexborNode) -> Layout:  # noqa: C901 - hot: a call a node would show
        """Traverse a tree in document order, without recursion; its root is a box."""
        openers, open_box = self._openers, _LayoutBuilder._open_box
        outermost = self._open_box(root, root.tag or "")
        stack: list[tuple[LexborNode, _Frame | None]] = []
        node = root.first_child
        while True:
            while node is None:
                if not stack:
                    self._flush()
                    self._close_box(outermost)
                    boxes = map(self.boxes.__getitem__, range(self.opened))
                    return Layout(tuple(self.blocks), tuple(boxes), tuple(self.images))
                parent, frame = stack.pop()
                if frame:
                    frame[0](frame)
                node = parent.next
            if (text := node.text_content) is not None:
                if not self.hidden:
                    self.parts.append(text)
                    if self.links:
                        self.anchors.append(text)
            else:
                tag = node.tag or ""
                frame = openers.get(tag, open_box)(self, node, tag)
                if frame is not _LEAF:
                    stack.append((node, frame))
                    node = node.first_child
                    continue
            node = node.next

    def _skip(self, node: LexborNode, tag: str) -> _Frame:  # noqa: ARG002 - one of the openers
        return _LEAF

    def _open_plain(self, node: LexborNode, tag: str) -> None:
        """Open an element that only contributes its text."""

    def _add_break(self, node: LexborNode, tag: str) -> _Frame:  # noqa: ARG002 - likewise
        self._flush()
        return _LEAF

    def _add_image(self, node: LexborNode, tag: str) -> _Frame:  # noqa: ARG002 - likewise
        if not self.hidden:
            values = node.attributes
            address = next((values[name] for name in ADDRESSES if values.get(name)), None)
            if address:
                self.images.append((len(self.blocks) + bool(self.parts), address))
        return _LEAF

    def _open_link(self, node: LexborNode, tag: str) -> _Frame:  # noqa: ARG002 - likewise
        self.links += 1
        self.started_links += 1
        return (self._close_link,)

    def _close_link(self, frame: _Frame) -> None:  # noqa: ARG002 - one of the closing methods
        self.links -= 1

    def _open_box(self, node: LexborNode, tag: str) -> _Frame:
        outer, line, hidden = self.box, self.line, self.hidden
        if tag in BREAKS:
            self._flush()
            self.line = tag
        names = ""
        if values := node.attributes:
            name, classes = values.get("id") or "", values.get("class") or ""
            names = f"{classes} {name}".strip()
            self.hidden = hidden or _is_hidden(values, name)
        if tag == "pre":
            self.codes += 1  # a test of each of many elements inside each other is quadratic
            if self.codes == 1 and _is_numbering(node):
                self.hidden = True
        begin, self.box = len(self.blocks), self.opened
        self.opened += 1
        return (self._close_box, self.box, outer, line, hidden, tag, names, begin, node)

    def _close_box(self, frame: _Frame) -> None:
        _, number, outer, line, hidden, tag, names, begin, node = frame
        end = len(self.blocks)
        if tag in BREAKS:
            self._flush()
            end = len(self.blocks)
            self.codes -= tag == "pre"
        elif begin < end and any(map(str.strip, self.parts)):
            end += 1  # the open block, which began in this box
        self.box, self.line, self.hidden = outer, line, hidden
        self.boxes[number] = Box(tag, outer, names, begin, end, node)

    def _flush(self) -> None:
        """End the current block, unless it has no text."""
        if self.parts:
            if text := " ".join("".join(self.parts).split()):
                size, stops = _measure(text)
                linked, links = self._linked(size), self.started_links
                self.blocks.append(Block(text, self.box, self.line, size, linked, stops, links))
            self.parts.clear()
            self.anchors.clear()
        self.started_links = int(self.links > 0)

    def _linked(self, size: int) -> float:
        """Return the share of anchor text in the current block."""
        if len(self.anchors) in (0, len(self.parts)):
            return float(bool(self.anchors))
        return min(1.0, size_of("".join(self.anchors)) / size) if size else 1.0

    _openers: ClassVar[dict[str, Callable[[_LayoutBuilder, LexborNode, str], _Frame | None]]] = {
        **dict.fromkeys(INVISIBLE.union(("-text",)), _skip),  # a text node without data
        **dict.fromkeys(_PLAIN, _open_plain),
        **dict.fromkeys(("br", "hr"), _add_break),
        "img": _add_image,
        "a": _open_link,
    }


def _is_hidden(values: Mapping[str, str | None], name: str) -> bool:
    """Return whether an element is hidden by its attributes; ``name`` is its id."""
    if "hidden" in values and not name.startswith(_STREAMED):
        return True
    style = values.get("style")
    return bool(style and _HIDDEN.search(style))


def _is_numbering(node: LexborNode) -> bool:
    """Return whether an element has only the numbers of lines of code, in a column of their own."""
    words = node.text(separator=" ").split()
    return words == [str(number) for number in range(1, len(words) + 1)]
