"""Layout of a page: text blocks in a tree of boxes, from which the body is selected."""

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

INVISIBLE = frozenset((
    "script", "style", "noscript", "template", "iframe", "select", "option", "button", "textarea",
    "input", "svg", "object", "embed", "canvas", "head", "title", "map", "audio", "video",
    "-comment",
))
"""Elements whose text is not visible."""

_INLINE = frozenset((
    "a", "abbr", "b", "big", "cite", "code", "del", "em", "i", "ins", "label", "mark", "q", "s",
    "small", "strike", "strong", "sub", "sup", "time", "tt", "u", "wbr", "img", "br", "hr",
))
"""Elements that never contain a body."""

_PLAIN = _INLINE - BREAKS - {"a", "img"}
"""Elements that only contain text."""
# fmt: on

_NAME = re.compile(r"[A-Za-z_][A-Za-z_-]*\d{0,2}")
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_STREAMED = "S:"
"""Id prefix of hidden elements of streamed pages, which a script moves into place."""
_HAN = re.compile(r"[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_WORD = re.compile(r"[^\W\d_\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")
_STOP = re.compile(r"[。！？；…”，：!?]|[.,;:](?=\s|$)")

_ADDRESSES = ("data-original", "data-src", "src")
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
    """Return size and number of punctuation marks of a text.

    Runs of Chinese are replaced by one character, so that the slower patterns search less text.
    """
    others = _HAN.split(text)
    rest = "一".join(others)
    chinese = len(text) - len(rest) + len(others) - 1
    return chinese + WORD * len(_WORD.findall(rest)), len(_STOP.findall(rest))


def letters(runs: re.Pattern[str], text: str) -> int:
    """Return the number of characters in the matches of a pattern.

    >>> letters(re.compile("[一-龥]+"), "新款 electric 汽车")
    4
    """
    return sum(map(len, runs.findall(text)))


def _name(node: LexborNode) -> str:
    """Return the id or classes of an element as CSS, without those that contain page numbers."""
    values = node.attributes
    named = values.get("id") or ""
    if _NAME.fullmatch(named):
        return f"#{named}"
    return "".join(f".{one}" for one in (values.get("class") or "").split() if _NAME.fullmatch(one))


def lay_out(root: LexborNode) -> Layout:
    """Compute the layout of the visible text of an element.

    >>> from selectolax.lexbor import LexborHTMLParser
    >>> page = LexborHTMLParser("<div>一<br>二 <a href=/>三</a></div><p>四</p>")
    >>> [(block.text, block.linked) for block in lay_out(page.body).blocks]
    [('一', 0.0), ('二 三', 0.5), ('四', 0.0)]
    """
    return _LayoutBuilder().build(root)


class _LayoutBuilder:
    """Single traversal of a tree that collects blocks and boxes."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.images: list[tuple[int, str]] = []
        self.boxes: list[Box] = []
        self.open: list[int] = []
        self.breaks: list[str] = []
        self.parts: list[str] = []
        self.anchors: list[str] = []
        self.links = self.started_links = 0
        self.hidden = 0

    def build(self, root: LexborNode) -> Layout:
        """Traverse a tree; None on the stack marks the end of an element."""
        stack: list[tuple[LexborNode | None, str]] = [(root, root.tag or "")]
        while stack:
            node, tag = stack.pop()
            if node is None:
                self._leave(tag)
            elif tag == "-text":
                if not self.hidden:
                    self._add_text(node.text_content or "")
            else:
                if tag not in _PLAIN:
                    self._enter(node, tag)
                    stack.append((None, tag))
                child = node.last_child
                while child is not None:
                    name = child.tag or ""
                    if name not in INVISIBLE:
                        stack.append((child, name))
                    child = child.prev
        self._flush()
        return Layout(tuple(self.blocks), tuple(self.boxes), tuple(self.images))

    def _add_text(self, text: str) -> None:
        self.parts.append(text)
        if self.links:
            self.anchors.append(text)

    def _enter(self, node: LexborNode, tag: str) -> None:
        if tag in BREAKS:
            self._flush()
            self.breaks.append(tag)
        if tag == "a":
            self.links += 1
            self.started_links += 1
        if tag == "img":
            self._add_image(node)
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

    def _add_image(self, node: LexborNode) -> None:
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
            size, stops = _measure(text)
            linked = self._linked(size)
            box = self.open[-1] if self.open else 0
            tag = self.breaks[-1] if self.breaks else ""
            self.blocks.append(Block(text, box, tag, size, linked, stops, self.started_links))
        self.started_links = int(self.links > 0)
        self.parts.clear()
        self.anchors.clear()

    def _linked(self, size: int) -> float:
        """Return the share of anchor text in the current block."""
        if len(self.anchors) in (0, len(self.parts)):
            return float(bool(self.anchors))
        return min(1.0, size_of("".join(self.anchors)) / size) if size else 1.0
