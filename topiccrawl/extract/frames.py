"""Site frames: the box of a site's article bodies, and its repeated lines (after CN101694658).

A frame is learned from a few articles of a site: text that differs between pages is content,
repeated text is boilerplate. The box that contained most bodies is searched first, and lines shared
by many bodies are removed. A sample of pages is also extracted without the frame. If the results
disagree, the site has changed and the frame is rebuilt. A selector set by the operator is kept.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from topiccrawl.extract.blocks import lay_out
from topiccrawl.extract.body import NOTHING, Body, body_of, find_body
from topiccrawl.extract.density import choose
from topiccrawl.text.digest import fold

if TYPE_CHECKING:
    from collections.abc import Mapping


KEY = "frame"
"""Key of a site's frame in the site's stored data."""

MIN_ARTICLES = 5
"""Minimum articles of a site before its frame is used."""

TRUSTED = 0.8
"""Minimum share of a site's articles with the body in the box."""

MIN_REPEATED, REPEATED_SHARE = 3, 0.3
"""Minimum number and share of a site's articles with a line that counts as repeated."""

CHECK_EVERY = 10
"""Interval in articles at which an article is also extracted without the frame."""

AGREES = 0.8
"""Minimum share of common lines, relative to the longer text."""

MISSES = 3
"""Consecutive failed checks before the frame is rebuilt."""

MOST_LINES, LONGEST = 600, 200
"""Most lines stored, and most characters of a line; repeated lines are short."""


class FrameView(NamedTuple):
    """Immutable view of a site's frame for one page; may be sent to another process.

    Attributes:
        box: Selector to search first, "" if none is trusted.
        repeated: Repeated lines of the site.
        due: Whether the page is also to be extracted without the frame.
        misses: Number of consecutive failed checks.
    """

    box: str = ""
    repeated: frozenset[str] = frozenset()
    due: bool = False
    misses: int = 0

    def clean(self, body: Body, trial: FrameTrial) -> Body:
        """Remove repeated lines from a body; return it unchanged if no line would remain."""
        if trial.misses(self) >= MISSES:
            return body
        lines = [line for line in body.text.split("\n") if line not in self.repeated]
        return body._replace(text="\n".join(lines)) if lines else body


class FrameTrial(NamedTuple):
    """Result of using a frame on one page.

    Attributes:
        used: Whether there was text in the frame's box.
        agrees: Result of the check, or None if there was no check.
    """

    used: bool = False
    agrees: bool | None = None

    def misses(self, view: FrameView) -> int:
        """Return the number of consecutive failed checks, including this one."""
        return view.misses if self.agrees is None else 0 if self.agrees else view.misses + 1


class SiteFrame:
    """Learned frame of one site.

    Attributes:
        pages: Number of articles learned from.
        boxes: Number of bodies by CSS selector of the box.
        lines: Number of articles by line.
        by_hand: Selector set by the operator, or ""; it takes precedence.
        kept: Lines that the operator protects from removal.
        misses: Number of consecutive failed checks.
    """

    def __init__(self) -> None:
        self.pages = 0
        self.boxes: Counter[str] = Counter()
        self.lines: Counter[str] = Counter()
        self.by_hand = ""
        self.kept: set[str] = set()
        self.misses = 0
        self._used = 0

    @property
    def box(self) -> str:
        """Selector to search first, "" if none is trusted."""
        if self.by_hand or self.pages < MIN_ARTICLES:
            return self.by_hand
        best, times = self.boxes.most_common(1)[0] if self.boxes else ("", 0)
        return best if times >= TRUSTED * self.pages else ""

    @property
    def repeated(self) -> dict[str, int]:
        """Repeated lines, with the number of articles that have each."""
        if self.pages < MIN_ARTICLES:
            return {}
        least = max(MIN_REPEATED, REPEATED_SHARE * self.pages)
        return {
            line: times
            for line, times in self.lines.items()
            if times >= least and line not in self.kept
        }

    def observe(self, body: Body) -> None:
        r"""Learn from the body of an article, as extracted (with repeated lines).

        >>> frame = SiteFrame()
        >>> for n in range(6):
        ...     frame.observe(Body(f"第{n}条消息。\n本台热线欢迎来电。", box="div.text"))
        >>> frame.box, frame.repeated
        ('div.text', {'本台热线欢迎来电。': 6})
        """
        if self.misses:  # the site may have changed; do not mix old and new frames
            return
        self.pages += 1
        if body.box:
            self.boxes[body.box] += 1
        lines = {line for line in body.text.split("\n") if len(line) <= LONGEST}
        self.lines.update(lines)
        if len(self.lines) > MOST_LINES:
            common = self.lines.most_common(MOST_LINES // 2)
            self.lines = Counter({line: times for line, times in common if times > 1})

    def view(self) -> FrameView:
        """Return the view for the next page."""
        due = self._used % CHECK_EVERY == 0
        return FrameView(self.box, frozenset(self.repeated), due, self.misses)

    def learn(self, trial: FrameTrial, body: Body | None) -> None:
        """Learn from the result on a page, and from its body if it is an article."""
        self._used += trial.used
        if trial.agrees is not None:
            self.misses = 0 if trial.agrees else self.misses + 1
            if self.misses >= MISSES:
                self.forget()
        if body is not None:
            self.observe(body)

    def forget(self) -> None:
        """Drop the learned frame, but not the operator's selector and protected lines."""
        self.pages = self.misses = 0
        self.boxes.clear()
        self.lines.clear()

    def to_json(self) -> dict[str, Any]:
        """Return JSON-serializable values, without lines of a single article."""
        lines = {line: times for line, times in self.lines.items() if times > 1}
        return {
            "pages": self.pages,
            "boxes": dict(self.boxes),
            "lines": lines,
            "by_hand": self.by_hand,
            "kept": sorted(self.kept),
            "misses": self.misses,
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> SiteFrame:
        """Load a frame from the result of ``to_json``; {} gives a new frame."""
        frame = cls()
        frame.pages = int(values.get("pages", 0))
        frame.boxes = Counter(values.get("boxes", {}))
        frame.lines = Counter(values.get("lines", {}))
        frame.by_hand = str(values.get("by_hand", ""))
        frame.kept = set(values.get("kept", ()))
        frame.misses = int(values.get("misses", 0))
        return frame


def find_framed(
    tree: LexborHTMLParser, language: str, view: FrameView, dense: Body
) -> tuple[Body, FrameTrial]:
    """Find the body with a site's frame, or without the frame if it is not trusted.

    The body still contains repeated lines, which ``FrameView.clean`` removes.
    """
    framed = _inside(tree, view.box) if view.box else NOTHING
    used = bool(framed.text)
    if used and not view.due:
        return framed, FrameTrial(used)
    generic = find_body(tree, language, dense)
    agrees = _agree(framed, generic) if view.box and generic.text else None
    trial = FrameTrial(used, agrees)
    return (framed if used and not trial.misses(view) else generic), trial


def _inside(tree: LexborHTMLParser, selector: str) -> Body:
    """Return the body in the only box of a selector; empty if there is not exactly one box."""
    try:
        boxes = tree.css(selector)
    except SelectolaxError:  # invalid selector of the operator
        return NOTHING
    if len(boxes) != 1:
        return NOTHING
    layout = lay_out(boxes[0])
    return body_of(layout, choose(layout, boxed=True))._replace(box=selector)


def _agree(one: Body, other: Body) -> bool:
    first = {fold(line) for line in one.text.split("\n")}
    second = {fold(line) for line in other.text.split("\n")}
    return len(first & second) >= AGREES * max(len(first), len(second))
