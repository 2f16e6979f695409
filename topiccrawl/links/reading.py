"""One walk over a parsed page: its text, its anchors, its link blocks and their captions.

The walk is a loop with its own stack, since pages nest 10,000 deep where somebody wants to hurt.
It costs one step a node; nothing in it looks back over what it has seen.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.links.directives import for_us

if TYPE_CHECKING:
    from collections.abc import Callable

    from selectolax.lexbor import LexborNode

MAX_LINKS = 10_000
"""Anchors read of one page; a hub of a news site has some hundreds to two thousand."""

LINK_DENSITY = 0.5
"""Share of a block's letters that stand in anchors: more than half, else it is running text."""

_MIN_LINKS = dict.fromkeys(("ul", "ol", "dl", "nav", "menu", "table"), 2) | dict.fromkeys(
    ("div", "section", "aside", "header", "footer", "article", "main", "center", "p", "td",
     "form", "fieldset", "blockquote", "map"), 3,
)  # fmt: skip
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "caption", "legend", "dt", "summary"})
_BREAKS = frozenset({
    "br", "hr", "li", "dd", "tr", "th", "tbody", "thead", "tfoot", "pre", "address", "figure",
    "figcaption", "body", "option", "details", "button", "label", "input",
})  # fmt: skip
_SKIPPED = frozenset({
    "-comment", "-doctype", "script", "style", "noscript", "template", "textarea", "select",
    "datalist", "svg", "math", "noframes", "noembed", "object", "canvas", "audio", "video",
})  # fmt: skip
_UNFOLLOWED = frozenset({"nofollow", "ugc", "sponsored"})
_CAPTION_LENGTH = (2, 24)
_CAPTION_SLACK = 12
_HEADING_LENGTH = 80
_REFRESH = re.compile(r"\s*[0-9.]*\s*[;,]?\s*(?:url\s*=)?\s*['\"]?([^'\"]+)", re.IGNORECASE)

Span = tuple[int, int]
"""Where a text begins and ends in the page's raw text, characters."""


class Anchor(NamedTuple):
    """A link as it stands in the page.

    Attributes:
        href: As written.
        span: Its text in the raw text.
        instead: ``title`` or ``alt``, for a link without text.
        heading: Where the nearest heading or caption before it stands, or None.
    """

    href: str
    span: Span
    instead: str
    heading: Span | None


class _Box(NamedTuple):
    """An open container, and how far everything had come when it opened."""

    tag: str
    start: int
    anchors: int
    pending: int
    letters: int
    linked: int


class _Open(NamedTuple):
    """An open ``<a href>``."""

    href: str
    start: int
    letters: int
    title: str


_Frame = _Box | _Open | None


class Reading:
    """What one walk over a page gathers.

    Attributes:
        title: Text of the first ``<title>``, raw.
        base: ``href`` of the first ``<base>``, or "".
        canonical: ``href`` of the first ``<link rel=canonical>``, or "".
        robots: Contents of the meta elements that speak to us.
        anchors: Followable links, in page order of their ends.
        blocks: Block of each anchor, -1 for running text; same length as ``anchors``.
    """

    def __init__(self) -> None:
        self.title = self.base = self.canonical = ""
        self.robots: list[str] = []
        self.anchors: list[Anchor] = []
        self.blocks: list[int] = []
        self._pieces: list[str] = []
        self._at = self._letters = self._linked = 0
        self._level = self._inside = self._count = 0
        self._alt = ""
        self._pending: list[int] = []
        self._heading: Span | None = None
        self._heading_level = self._heading_letters = 0
        self._handlers: dict[str, Callable[[LexborNode], _Frame]] = {
            "a": self._open_anchor,
            "img": self._image,
            "area": self._area,
            "frame": self._frame,
            "iframe": self._frame,
            "meta": self._meta,
            "link": self._head_link,
            "base": self._base,
            "title": self._title,
        }

    def raw(self) -> str:
        """Return the visible text, blanks not folded; spans point into it."""
        return "".join(self._pieces)

    def walk(self, root: LexborNode) -> None:
        """Read everything under ``root``, in document order, in bounded stack."""
        stack: list[tuple[LexborNode, str, _Frame]] = []
        node = root
        while True:
            child, tag, frame = None, node.tag, None
            if tag == "-text":
                self._text(node.text_content or "")
            elif tag is not None and tag not in _SKIPPED:
                frame = self._opened(node, tag)
                child = node.first_child if tag not in _CHILDLESS else None
            if child is not None:
                stack.append((node, tag or "", frame))
                node = child
                continue
            self._closed(tag or "", frame)
            while (following := node.next) is None:
                if not stack:
                    return
                node, tag, frame = stack.pop()
                self._closed(tag, frame)
            node = following

    def _text(self, text: str) -> None:
        if text.isspace():
            self._break()
            return
        self._pieces.append(text)
        self._at += len(text)
        self._letters += len(text.strip())

    def _break(self) -> None:
        self._pieces.append(" ")
        self._at += 1

    def _opened(self, node: LexborNode, tag: str) -> _Frame:
        if tag in _BOXES:
            self._break()
            self._level += 1
            return _Box(
                tag, self._at, len(self.anchors), len(self._pending), self._letters, self._linked
            )
        if tag in _BREAKS:
            self._break()
        elif tag in self._handlers:
            return self._handlers[tag](node)
        return None

    def _closed(self, tag: str, frame: _Frame) -> None:
        if frame is None:
            if tag in _BREAKS:
                self._break()
        elif isinstance(frame, _Open):
            self._close_anchor(frame)
        else:
            self._close_box(frame)
            self._break()

    def _open_anchor(self, node: LexborNode) -> _Frame:
        attributes = node.attributes
        href = attributes.get("href")
        if not href or not _followed(attributes.get("rel")):
            return None
        self._inside += 1
        self._alt = ""
        return _Open(href, self._at, self._letters, attributes.get("title") or "")

    def _close_anchor(self, opened: _Open) -> None:
        self._inside -= 1
        self._linked += self._letters - opened.letters
        self._add(opened.href, (opened.start, self._at), opened.title or self._alt)

    def _add(self, href: str, span: Span, instead: str) -> None:
        if len(self.anchors) >= MAX_LINKS:
            return
        self._pending.append(len(self.anchors))
        self.anchors.append(Anchor(href, span, instead, self._heading))
        self.blocks.append(-1)

    def _close_box(self, box: _Box) -> None:
        self._level -= 1
        links = len(self.anchors) - box.anchors
        letters = self._letters - box.letters
        if box.tag in _HEADINGS:
            self._set_heading(box.start, letters)
        elif links:
            self._settle_block(box, links, letters)
        elif _CAPTION_LENGTH[0] <= letters <= _CAPTION_LENGTH[1] and not self._inside:
            self._set_heading(box.start, letters)
        if self._level < self._heading_level:
            self._leave_heading(letters)

    def _settle_block(self, box: _Box, links: int, letters: int) -> None:
        """Make a block of the box's links that no inner block has, if they fill it."""
        own = len(self._pending) - box.pending
        if own < _MIN_LINKS[box.tag] or 2 * own < links:
            return
        if self._linked - box.linked < LINK_DENSITY * letters:
            return
        for index in self._pending[box.pending :]:
            self.blocks[index] = self._count
        self._count += 1
        del self._pending[box.pending :]

    def _set_heading(self, start: int, letters: int) -> None:
        if 0 < letters <= _HEADING_LENGTH:
            self._heading = (start, self._at)
            self._heading_level, self._heading_letters = self._level, letters

    def _leave_heading(self, letters: int) -> None:
        """Forget the heading with the box it stood in, unless the box held little else."""
        if self._heading and letters <= self._heading_letters + _CAPTION_SLACK:
            self._heading_level = self._level
        else:
            self._heading, self._heading_level = None, 0

    def _image(self, node: LexborNode) -> _Frame:
        if self._inside:
            self._alt = self._alt or node.attributes.get("alt") or ""
        return None

    def _area(self, node: LexborNode) -> _Frame:
        attributes = node.attributes
        if attributes.get("href") and _followed(attributes.get("rel")):
            text = attributes.get("alt") or attributes.get("title") or ""
            self._add(attributes["href"] or "", (self._at, self._at), text)
        return None

    def _frame(self, node: LexborNode) -> _Frame:
        attributes = node.attributes
        if attributes.get("src"):
            text = attributes.get("title") or attributes.get("name") or ""
            self._add(attributes["src"] or "", (self._at, self._at), text)
        return None

    def _meta(self, node: LexborNode) -> _Frame:
        attributes = node.attributes
        content = attributes.get("content") or ""
        if for_us(attributes.get("name") or ""):
            self.robots.append(content)
        elif (attributes.get("http-equiv") or "").strip().lower() == "refresh":
            match = _REFRESH.match(content)
            if match:
                self._add(match.group(1), (self._at, self._at), "")
        return None

    def _head_link(self, node: LexborNode) -> _Frame:
        attributes = node.attributes
        if "canonical" in (attributes.get("rel") or "").lower().split():
            self.canonical = self.canonical or attributes.get("href") or ""
        return None

    def _base(self, node: LexborNode) -> _Frame:
        self.base = self.base or node.attributes.get("href") or ""
        return None

    def _title(self, node: LexborNode) -> _Frame:
        self.title = self.title or node.text()
        return None


def _followed(rel: str | None) -> bool:
    return not rel or _UNFOLLOWED.isdisjoint(rel.lower().split())


_BOXES = _HEADINGS | frozenset(_MIN_LINKS)
_CHILDLESS = frozenset({"title", "iframe"})
