"""Layout of a page: text blocks in a tree of boxes, from which the body is selected."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

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

_VOID = frozenset(("br", "hr", "img"))
"""Elements without content."""
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
    """Single traversal of a tree that collects blocks and boxes.

    Attributes:
        open: Numbers of the open boxes.
        breaks: Tags of the open boxes that end a line.
        parts, anchors: Texts of the current block, and those of them in links.
        links, started_links: Number of open links, and of links in the current block.
        hidden: Depth of the outermost hidden box, from 1; 0 if the current box is visible.
    """

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.images: list[tuple[int, str]] = []
        self.boxes: list[Box] = []
        self.open: list[int] = []
        self.breaks: list[str] = []
        self.parts: list[str] = []
        self.anchors: list[str] = []
        self.links = self.started_links = self.hidden = 0

    def build(self, root: LexborNode) -> Layout:
        """Traverse a tree; None on the stack marks the end of an element."""
        stack: list[tuple[LexborNode | None, str]] = [(root, root.tag or "")]
        while stack:
            node, tag = stack.pop()
            if node is None:
                self._leave(tag)
            elif tag == "-text":
                self._add_text(node)
            elif tag in _VOID:
                self._add_void(node, tag)
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

    def _add_text(self, node: LexborNode) -> None:
        if not self.hidden:
            text = node.text_content or ""
            self.parts.append(text)
            if self.links:
                self.anchors.append(text)

    def _add_void(self, node: LexborNode, tag: str) -> None:
        """End a line, or add an image."""
        if tag != "img":
            self._flush()
        elif not self.hidden:
            values = node.attributes
            address = next((values[name] for name in ADDRESSES if values.get(name)), None)
            if address:
                self.images.append((len(self.blocks) + bool(self.parts), address))

    def _enter(self, node: LexborNode, tag: str) -> None:
        if tag == "a":
            self.links += 1
            self.started_links += 1
            return
        if tag in BREAKS:
            self._flush()
            self.breaks.append(tag)
        values = node.attributes
        name, classes = values.get("id") or "", values.get("class") or ""
        self.open.append(len(self.boxes))
        if not self.hidden and values and _is_hidden(values, name):
            self.hidden = len(self.open)
        parent = self.open[-2] if len(self.open) > 1 else -1
        begin = len(self.blocks)
        self.boxes.append(Box(tag, parent, f"{classes} {name}".strip(), begin, begin, node))

    def _leave(self, tag: str) -> None:
        if tag == "a":
            self.links -= 1
            return
        if tag in BREAKS:
            self._flush()
            self.breaks.pop()
        if len(self.open) == self.hidden:
            self.hidden = 0
        number = self.open.pop()
        box = self.boxes[number]
        if box.begin < len(self.blocks):
            self.boxes[number] = Box(*box[:4], len(self.blocks), box.node)

    def _flush(self) -> None:
        """End the current block, unless it has no text."""
        if self.parts:
            if text := " ".join("".join(self.parts).split()):
                size, stops = _measure(text)
                box = self.open[-1] if self.open else 0
                tag = self.breaks[-1] if self.breaks else ""
                linked, links = self._linked(size), self.started_links
                self.blocks.append(Block(text, box, tag, size, linked, stops, links))
            self.parts.clear()
            self.anchors.clear()
        self.started_links = int(self.links > 0)

    def _linked(self, size: int) -> float:
        """Return the share of anchor text in the current block."""
        if len(self.anchors) in (0, len(self.parts)):
            return float(bool(self.anchors))
        return min(1.0, size_of("".join(self.anchors)) / size) if size else 1.0


def _is_hidden(values: Mapping[str, str | None], name: str) -> bool:
    """Return whether an element is hidden by its attributes; ``name`` is its id."""
    if "hidden" in values and not name.startswith(_STREAMED):
        return True
    style = values.get("style")
    return bool(style and _HIDDEN.search(style))
