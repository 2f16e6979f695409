"""Single traversal of a parsed page: text, anchors, link blocks, captions, robots directives.

The traversal is iterative, since hostile pages nest elements 10,000 deep. Its time is linear in the
number of nodes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar

from topiccrawl.links.scripted import scripted_redirect
from topiccrawl.model import Directives

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from selectolax.lexbor import LexborNode

MAX_LINKS = 10_000
"""Most anchors read from one page; a hub of a news site has hundreds to 2,000."""

LINK_DENSITY = 0.5
"""Minimum share of a block's letters in anchors; below it the text is running text."""

_MIN_LINKS = dict.fromkeys(("ul", "ol", "dl", "nav", "menu", "table"), 2) | dict.fromkeys(
    ("div", "section", "aside", "header", "footer", "article", "main", "center", "p", "td",
     "form", "fieldset", "blockquote", "map", "pre", "address", "figure", "figcaption", "details"),
    3,
)  # fmt: skip
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "caption", "legend", "dt", "summary"})
_BREAKS = frozenset({
    "br", "hr", "li", "dd", "tr", "th", "tbody", "thead", "tfoot", "body", "button", "label",
    "input",
})  # fmt: skip
_SKIPPED = frozenset({
    "-comment", "-doctype", "script", "style", "noscript", "template", "textarea", "select",
    "datalist", "svg", "math", "noframes", "noembed", "object", "canvas", "audio", "video",
})  # fmt: skip
_UNFOLLOWED = frozenset({"nofollow", "ugc", "sponsored"})
_CAPTION_MIN, _CAPTION_MAX = 2, 24
_CAPTION_SLACK = 12
_HEADING_LENGTH = 80
_NO_URL = re.compile(r"\s*+(?:#|javascript:|$)", re.IGNORECASE)
_REFRESH = re.compile(
    r"\s*+[0-9.]*+\s*+[;,]?+\s*+(?:url\s*+=)?+\s*+['\"]?+([^'\"]+)", re.IGNORECASE
)

Span = tuple[int, int]
"""Start and end of a text in the page's raw text, in pieces or in characters."""

_Frame = tuple[Any, ...]
"""An open element: the method that closes it, and its arguments; () skips the children."""

_LEAF: _Frame = ()


Anchor = tuple[str, Span, str, Span | None, str]
"""A link of the page: ``href`` as written; span of its text, in pieces; ``title`` or ``alt`` for a
link without text; span of the nearest preceding heading, or None; surrounding elements
(``Reading._surrounding``)."""

AGENT = "topiccrawl"
"""Name of this robot; directives for it and for all robots apply."""

_AGENT_PREFIX = re.compile(r"\s*([A-Za-z0-9_.-]+)\s*:")
_WITH_VALUE = {"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"}
_DIGITS = re.compile(r"[0-9]+")
_ELEMENTS = 6
"""Innermost surrounding elements that identify the position of a link."""


def _skip(reading: Reading, node: LexborNode) -> _Frame:  # noqa: ARG001 - one of the openers
    return _LEAF


class Reading:
    """Data collected in one traversal of a page.

    Attributes:
        title: Text of the first ``<title>``, raw.
        base: ``href`` of the first ``<base>``, or "".
        canonical: ``href`` of the first ``<link rel=canonical>``, or "".
        robots: Contents of the meta elements that address this robot.
        anchors: Followable links, in the page order of their end tags.
        blocks: Block number by index in ``anchors``, for anchors in a link block.
        pieces: Visible text, blanks not folded, one piece for each text node.
    """

    def __init__(self) -> None:
        self.title = self.base = self.canonical = self._alt = ""
        self.robots: list[str] = []
        self.anchors: list[Anchor] = []
        self.blocks: dict[int, int] = {}
        self.pieces: list[str] = []
        self._letters = self._linked = self._level = self._inside = self._count = 0
        self._pending: list[int] = []
        self._heading: Span | None = None
        self._heading_level = self._heading_letters = 0
        self._stack: list[tuple[LexborNode, _Frame | None]] = []
        self._labels: list[tuple[LexborNode, str]] = []

    def walk(self, root: LexborNode) -> None:  # noqa: C901 - hot: a call a node would show
        """Traverse all nodes below ``root`` in document order, without recursion."""
        stack = self._stack
        openers, append, node = self._openers, self.pieces.append, root
        while True:
            child = frame = None
            if (tag := node.tag) == "-text":
                text = node.text_content or ""
                letters = len(text.strip())
                self._letters += letters
                append(text if letters else " ")
            elif opener := openers.get(tag):
                frame = opener(self, node)
                child = None if frame is _LEAF else node.first_child
            else:
                child = node.first_child
            if child is not None:
                stack.append((node, frame))
                node = child
                continue
            if frame:
                frame[0](frame)
            while (following := node.next) is None:
                if not stack:
                    return
                node, frame = stack.pop()
                if frame:
                    frame[0](frame)
            node = following

    def _break(self, node: LexborNode) -> None:  # noqa: ARG002 - one of the openers
        self.pieces.append(" ")

    def _open_box(self, node: LexborNode) -> _Frame:
        """Open a container, or a heading."""
        minimum = _MIN_LINKS.get(node.tag or "", 0)
        self.pieces.append(" ")
        self._level += 1
        return (
            self._close_box, minimum, len(self.pieces), len(self.anchors), len(self._pending),
            self._letters, self._linked,
        )  # fmt: skip

    def _close_box(self, frame: _Frame) -> None:
        _, minimum, start, anchors, pending, letters, linked = frame
        self._level -= 1
        links = len(self.anchors) - anchors
        letters = self._letters - letters
        if not minimum:
            self._set_heading(start, letters)
        elif links:
            own = len(self._pending) - pending
            if own >= minimum and 2 * own >= links:
                self._settle_block(pending, self._linked - linked, letters)
        elif _CAPTION_MIN <= letters <= _CAPTION_MAX and not self._inside:
            self._set_heading(start, letters)
        if self._level < self._heading_level:
            self._leave_heading(links, letters)
        self.pieces.append(" ")

    def _settle_block(self, pending: int, linked: int, letters: int) -> None:
        """Assign the links that are in no inner block to a new block, if links fill the box."""
        if linked < LINK_DENSITY * letters:
            return
        for index in self._pending[pending:]:
            self.blocks[index] = self._count
        self._count += 1
        del self._pending[pending:]

    def _set_heading(self, start: int, letters: int) -> None:
        if 0 < letters <= _HEADING_LENGTH:
            self._heading = (start, len(self.pieces))
            self._heading_level, self._heading_letters = self._level, letters

    def _leave_heading(self, links: int, letters: int) -> None:
        """Drop the heading at the end of its box, unless the box only adds a "more" link."""
        if links <= 1 and letters <= self._heading_letters + _CAPTION_SLACK:
            self._heading_level = self._level
        else:
            self._heading, self._heading_level = None, 0

    def _open_anchor(self, node: LexborNode) -> _Frame | None:
        attributes = node.attributes
        href = attributes.get("href") or ""
        if _NO_URL.match(href):
            href = _scripted_url(attributes.get("onclick") or "", href) or href
        if not href or ("rel" in attributes and not _is_followed(attributes["rel"])):
            return None
        self._inside += 1
        self._alt = ""
        title = attributes.get("title") or ""
        return (self._close_anchor, href, len(self.pieces), self._letters, title)

    def _close_anchor(self, frame: _Frame) -> None:
        _, href, start, letters, title = frame
        self._inside -= 1
        self._linked += self._letters - letters
        self._add(href, (start, len(self.pieces)), title or self._alt)

    def _add(self, href: str, span: Span, alternative: str) -> None:
        index = len(self.anchors)
        if index < MAX_LINKS:
            self._pending.append(index)
            self.anchors.append((href, span, alternative, self._heading, self._surrounding()))

    def _surrounding(self) -> str:
        """Return the innermost elements around the current node, with their classes.

        Pages of one template have equal elements around links of one kind. Digits are replaced,
        so that numbers count as equal. Labels of open elements are cached between links.
        """
        stack, labels = self._stack, self._labels
        depth = min(len(stack), len(labels))
        while depth and labels[depth - 1][0] is not stack[depth - 1][0]:
            depth -= 1
        del labels[depth:]
        for node, _ in stack[depth:]:
            classes = _DIGITS.sub("#", node.attributes.get("class") or "")
            labels.append((node, f"{node.tag}.{classes}"))
        return ">".join([label for _, label in labels[-_ELEMENTS:]])

    def _add_at(self, href: str | None, text: str | None) -> None:
        if href:
            here = len(self.pieces)
            self._add(href, (here, here), text or "")

    def _image(self, node: LexborNode) -> _Frame | None:
        if self._inside:
            self._alt = self._alt or node.attributes.get("alt") or ""
        return _LEAF

    def _area(self, node: LexborNode) -> _Frame | None:
        attributes = node.attributes
        if _is_followed(attributes.get("rel")):
            self._add_at(attributes.get("href"), attributes.get("alt") or attributes.get("title"))
        return _LEAF

    def _frame(self, node: LexborNode) -> _Frame | None:
        attributes = node.attributes
        self._add_at(attributes.get("src"), attributes.get("title") or attributes.get("name"))
        return _LEAF

    def _meta(self, node: LexborNode) -> _Frame | None:
        attributes = node.attributes
        content = attributes.get("content") or ""
        if applies_to_robot(attributes.get("name") or ""):
            self.robots.append(content)
        elif (attributes.get("http-equiv") or "").strip().lower() == "refresh":
            match = _REFRESH.match(content)
            self._add_at(match.group(1) if match else None, None)
        return _LEAF

    def _head_link(self, node: LexborNode) -> _Frame | None:
        attributes = node.attributes
        if "canonical" in (attributes.get("rel") or "").lower().split():
            self.canonical = self.canonical or attributes.get("href") or ""
        return _LEAF

    def _base(self, node: LexborNode) -> _Frame | None:
        self.base = self.base or node.attributes.get("href") or ""
        return _LEAF

    def _title(self, node: LexborNode) -> _Frame | None:
        self.title = self.title or node.text()
        return _LEAF

    _openers: ClassVar[dict[str | None, Callable[[Reading, LexborNode], _Frame | None]]] = {
        **dict.fromkeys(_SKIPPED, _skip),
        **dict.fromkeys(_BREAKS, _break),
        **dict.fromkeys(_HEADINGS.union(_MIN_LINKS), _open_box),
        "a": _open_anchor,
        "img": _image,
        "area": _area,
        "frame": _frame,
        "iframe": _frame,
        "meta": _meta,
        "link": _head_link,
        "base": _base,
        "title": _title,
    }


def _scripted_url(onclick: str, href: str) -> str:
    """Return the URL to which the scripts of a link lead, or "" if they ask first, as to delete."""
    return "" if "confirm(" in onclick + href else scripted_redirect(f"{onclick}\n{href}")


def _is_followed(rel: str | None) -> bool:
    return not rel or _UNFOLLOWED.isdisjoint(rel.lower().split())


def applies_to_robot(name: str) -> bool:
    """Return whether ``<meta name=…>`` addresses this robot.

    >>> applies_to_robot("ROBOTS"), applies_to_robot("topiccrawl"), applies_to_robot("googlebot")
    (True, True, False)
    """
    return name.strip().lower() in ("robots", AGENT)


def directives(metas: Iterable[str], headers: Iterable[str] = ()) -> Directives:
    """Merge directives; anything that one of them forbids is forbidden.

    Args:
        metas: ``content`` of the meta elements that address this robot.
        headers: Values of X-Robots-Tag; a value addressed to another robot is ignored.

    >>> directives(["NOARCHIVE"], ["otherbot: noindex", "topiccrawl: nofollow"])
    Directives(noindex=False, nofollow=True, noarchive=True)
    """
    texts = (*metas, *map(_addressed_part, headers))
    found = {word.strip().lower() for text in texts for word in text.split(",")}
    forbids_all = "none" in found
    return Directives(
        noindex=forbids_all or "noindex" in found,
        nofollow=forbids_all or "nofollow" in found,
        noarchive="noarchive" in found or "nocache" in found,
    )


def _addressed_part(header: str) -> str:
    """Return the part of one X-Robots-Tag value that addresses this robot, or ""."""
    match = _AGENT_PREFIX.match(header)
    if match is None or match.group(1).lower() in _WITH_VALUE:
        return header
    return header[match.end() :] if applies_to_robot(match.group(1)) else ""
