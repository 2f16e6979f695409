"""A page as a row of text blocks under a tree of boxes, from which the body is chosen."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

# fmt: off
BREAKS = frozenset((
    "address", "article", "aside", "blockquote", "body", "br", "caption", "center", "dd", "div",
    "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5",
    "h6", "header", "hr", "li", "main", "nav", "ol", "p", "pre", "section", "table", "tbody",
    "td", "tfoot", "th", "thead", "tr", "ul",
))
"""Elements that end a line."""

SILENT = frozenset((
    "script", "style", "noscript", "template", "iframe", "select", "option", "button", "textarea",
    "input", "svg", "object", "embed", "canvas", "head", "title", "map", "audio", "video",
    "-comment",
))
"""Elements whose text is not part of the visible text."""

_INLINE = frozenset((
    "a", "abbr", "b", "big", "cite", "code", "del", "em", "i", "ins", "label", "mark", "q", "s",
    "small", "strike", "strong", "sub", "sup", "time", "tt", "u", "wbr", "img", "br", "hr",
))
"""Elements that never hold a body."""

_PLAIN = _INLINE - BREAKS - {"a", "img"}
"""Elements that only hold text."""
# fmt: on

_NAME = re.compile(r"[A-Za-z_][A-Za-z_-]*\d{0,2}")
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_STREAMED = "S:"
"""Start of the ids of hidden parts that a script moves to their place when they have arrived."""
_HAN = re.compile(r"[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_WORD = re.compile(r"[^\W\d_\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")
_STOP = re.compile(r"[。！？；…”，：!?]|[.,;:](?=\s|$)")

_ADDRESSES = ("data-original", "data-src", "src")
"""Attributes with an image's address; lazy loading keeps the real one in another than ``src``."""

WORD = 2
"""Size of a word of letters, in Chinese characters."""


class Box(NamedTuple):
    """An element that may hold a body.

    Attributes:
        tag: Its name.
        parent: Number of the box around it; -1 for the root.
        names: Its class and id.
        begin: Number of its first block.
        end: Number after its last block.
        node: The element itself.
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
        text: Blanks folded, never empty.
        box: Number of the innermost box around it.
        tag: Name of the innermost line-breaking element around it.
        size: Chinese characters; each word of letters counts ``WORD``.
        linked: Share of ``size`` inside links, in [0, 1].
        stops: Punctuation marks of sentences.
        links: Links that begin in it or continue into it.
    """

    text: str
    box: int
    tag: str
    size: int
    linked: float
    stops: int
    links: int = 0


class Layout(NamedTuple):
    """Blocks in page order; each box covers a stretch of them.

    Attributes:
        blocks: Lines of text.
        boxes: Elements around them, outer before inner; the first is the root.
        images: Addresses as written, each with the number of the block after it.
    """

    blocks: tuple[Block, ...]
    boxes: tuple[Box, ...]
    images: tuple[tuple[int, str], ...] = ()

    def selector(self, number: int) -> str:
        """Return a CSS selector of a box, from the nearest named box around it; "" without any.

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
    """Return the number of Chinese characters; each word of letters counts ``WORD``.

    >>> size_of("新款 electric 汽车 2020")
    6
    """
    return _measured(text)[0]


def _measured(text: str) -> tuple[int, int]:
    """Return size and punctuation marks of a text.

    Each run of Chinese becomes one character, so that the slower patterns see little text.
    """
    others = _HAN.split(text)
    rest = "一".join(others)
    chinese = len(text) - len(rest) + len(others) - 1
    return chinese + WORD * len(_WORD.findall(rest)), len(_STOP.findall(rest))


def letters(runs: re.Pattern[str], text: str) -> int:
    """Return the number of characters in runs of a pattern.

    >>> letters(re.compile("[一-龥]+"), "新款 electric 汽车")
    4
    """
    return sum(map(len, runs.findall(text)))


def _name(node: LexborNode) -> str:
    """Return an element's id or classes in CSS spelling, without those that number pages."""
    values = node.attributes
    named = values.get("id") or ""
    if _NAME.fullmatch(named):
        return f"#{named}"
    return "".join(f".{one}" for one in (values.get("class") or "").split() if _NAME.fullmatch(one))


def lay_out(root: LexborNode) -> Layout:
    """Return the visible text of an element, in blocks.

    >>> from selectolax.lexbor import LexborHTMLParser
    >>> page = LexborHTMLParser("<div>一<br>二 <a href=/>三</a></div><p>四</p>")
    >>> [(block.text, block.linked) for block in lay_out(page.body).blocks]
    [('一', 0.0), ('二 三', 0.5), ('四', 0.0)]
    """
    return _Walk().over(root)


class _Walk:
    """One pass over a tree."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.images: list[tuple[int, str]] = []
        self.boxes: list[Box] = []
        self.open: list[int] = []
        self.breaks: list[str] = []
        self.parts: list[str] = []
        self.anchors: list[str] = []
        self.links = self.begun = 0
        self.hidden = 0

    def over(self, root: LexborNode) -> Layout:
        """Lay out a tree; None on the stack stands for the end of an element."""
        stack: list[tuple[LexborNode | None, str]] = [(root, root.tag or "")]
        while stack:
            node, tag = stack.pop()
            if node is None:
                self._leave(tag)
            elif tag == "-text":
                if not self.hidden:
                    self._write(node.text_content or "")
            else:
                if tag not in _PLAIN:
                    self._enter(node, tag)
                    stack.append((None, tag))
                child = node.last_child
                while child is not None:
                    name = child.tag or ""
                    if name not in SILENT:
                        stack.append((child, name))
                    child = child.prev
        self._flush()
        return Layout(tuple(self.blocks), tuple(self.boxes), tuple(self.images))

    def _write(self, text: str) -> None:
        self.parts.append(text)
        if self.links:
            self.anchors.append(text)

    def _enter(self, node: LexborNode, tag: str) -> None:
        if tag in BREAKS:
            self._flush()
            self.breaks.append(tag)
        if tag == "a":
            self.links += 1
            self.begun += 1
        if tag == "img":
            self._show(node)
        if tag in _INLINE:
            return
        values = node.attributes
        style = values.get("style") or ""
        streamed = (values.get("id") or "").startswith(_STREAMED)
        concealed = "hidden" in values and not streamed
        if self.hidden or concealed or (style and _HIDDEN.search(style)):
            self.hidden += 1
        names = f"{values.get('class') or ''} {values.get('id') or ''}"
        parent = self.open[-1] if self.open else -1
        begin = len(self.blocks)
        self.open.append(len(self.boxes))
        self.boxes.append(Box(tag, parent, names.strip(), begin, begin, node))

    def _show(self, node: LexborNode) -> None:
        values = node.attributes
        address = next((values[name] for name in _ADDRESSES if values.get(name)), None)
        if address and not self.hidden:
            self.images.append((len(self.blocks) + bool(self.parts), address))

    def _leave(self, tag: str) -> None:
        if tag in BREAKS:
            self._flush()
            self.breaks.pop()
        if tag == "a":
            self.links -= 1
        if tag in _INLINE:
            return
        self.hidden -= bool(self.hidden)
        number = self.open.pop()
        tag, parent, names, begin, _, node = self.boxes[number]
        self.boxes[number] = Box(tag, parent, names, begin, len(self.blocks), node)

    def _flush(self) -> None:
        text = " ".join("".join(self.parts).split()) if self.parts else ""
        if text:
            size, stops = _measured(text)
            linked = self._linked(size)
            box = self.open[-1] if self.open else 0
            tag = self.breaks[-1] if self.breaks else ""
            self.blocks.append(Block(text, box, tag, size, linked, stops, self.begun))
        self.begun = int(self.links > 0)
        self.parts.clear()
        self.anchors.clear()

    def _linked(self, size: int) -> float:
        """Return the share of anchor text in a block."""
        if len(self.anchors) in (0, len(self.parts)):
            return float(bool(self.anchors))
        return min(1.0, size_of("".join(self.anchors)) / size) if size else 1.0
