"""A site's frame: the box of its bodies and the lines that repeat in them (after CN101694658).

It is learnt from a handful of a site's articles: text that changes from page to page is content,
text that repeats is frame. The box that held most bodies is searched first; lines that many bodies
share are left out. A sample of pages is also extracted without the frame. If the results disagree,
the site has changed and the frame is rebuilt. A frame written by hand is kept.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from topiccrawl.extract.blocks import lay_out
from topiccrawl.extract.body import NOTHING, Body, body_of, find_body
from topiccrawl.extract.density import choose_in
from topiccrawl.text.digest import fold

if TYPE_CHECKING:
    from collections.abc import Mapping


KEY = "frame"
"""Key of a site's frame in the site's stored data."""

LEAST = 5
"""Articles of a site before its frame is used."""

TRUSTED = 0.8
"""Least share of a site's articles whose body was in the box."""

REPEATED, OFTEN = 3, 0.3
"""Least articles, and least share of the site's articles, with a line that is frame."""

CHECK_EVERY = 10
"""One in so many articles is also extracted without the frame."""

AGREES = 0.8
"""Share of the longer text's lines that both must have."""

MISSES = 3
"""Checks in a row that fail before the frame is rebuilt."""

MOST_LINES, LONGEST = 600, 200
"""Lines stored, and characters of the longest: a line that a site repeats is short."""


class FrameView(NamedTuple):
    """A site's frame as one page needs it, immutable: it may be sent to another process.

    Attributes:
        box: Selector to search first, "" if none is trusted.
        repeated: Lines that are frame.
        due: The page is also to be extracted without the frame.
        misses: Checks in a row that failed before.
    """

    box: str = ""
    repeated: frozenset[str] = frozenset()
    due: bool = False
    misses: int = 0

    def clean(self, body: Body, trial: FrameTrial) -> Body:
        """Return the body without lines that the site repeats; unchanged if none would remain."""
        if trial.misses(self) >= MISSES:
            return body
        lines = [line for line in body.text.split("\n") if line not in self.repeated]
        return body._replace(text="\n".join(lines)) if lines else body


class FrameTrial(NamedTuple):
    """Use of a frame on one page.

    Attributes:
        used: There was text in the frame's box.
        agrees: Outcome of the check, None where none was made.
    """

    used: bool = False
    agrees: bool | None = None

    def misses(self, view: FrameView) -> int:
        """Return the checks in a row that failed, this one included."""
        return view.misses if self.agrees is None else 0 if self.agrees else view.misses + 1


class SiteFrame:
    """The learnt frame of one site.

    Attributes:
        pages: Articles it was learnt from.
        boxes: CSS selectors of boxes, and how many bodies each held.
        lines: Lines of bodies, and how many articles had each.
        by_hand: A selector that an operator wrote, or ""; it wins.
        kept: Lines that an operator wants to keep.
        misses: Checks in a row that failed.
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
        if self.by_hand or self.pages < LEAST:
            return self.by_hand
        best, times = self.boxes.most_common(1)[0] if self.boxes else ("", 0)
        return best if times >= TRUSTED * self.pages else ""

    @property
    def repeated(self) -> dict[str, int]:
        """Lines that are frame, and the number of articles with each."""
        if self.pages < LEAST:
            return {}
        least = max(REPEATED, OFTEN * self.pages)
        return {
            line: times
            for line, times in self.lines.items()
            if times >= least and line not in self.kept
        }

    def observe(self, body: Body) -> None:
        r"""Learn from an article's body as extracted, frame included.

        >>> frame = SiteFrame()
        >>> for n in range(6):
        ...     frame.observe(Body(f"第{n}条消息。\n本台热线欢迎来电。", box="div.text"))
        >>> frame.box, frame.repeated
        ('div.text', {'本台热线欢迎来电。': 6})
        """
        if self.misses:  # in doubt: do not mix the learnt frame with a possible new one
            return
        self.pages += 1
        if body.box:
            self.boxes[body.box] += 1
        lines = {line for line in body.text.split("\n") if len(line) <= LONGEST}
        self.lines.update(lines)
        if len(self.lines) > MOST_LINES:
            often = self.lines.most_common(MOST_LINES // 2)
            self.lines = Counter({line: times for line, times in often if times > 1})

    def view(self) -> FrameView:
        """Return what the next page needs."""
        due = self._used % CHECK_EVERY == 0
        return FrameView(self.box, frozenset(self.repeated), due, self.misses)

    def learn(self, trial: FrameTrial, body: Body | None) -> None:
        """Learn from the use of the frame on a page, and from its body where it is an article."""
        if trial.used:
            self.due()
        if trial.agrees is not None:
            self.check(agrees=trial.agrees)
        if body is not None:
            self.observe(body)

    def due(self) -> bool:
        """Count an article; return whether it is also to be extracted without the frame."""
        self._used += 1
        return self._used % CHECK_EVERY == 1

    def check(self, *, agrees: bool) -> None:
        """Record a check's outcome; after ``MISSES`` failures in a row drop the learnt frame."""
        self.misses = 0 if agrees else self.misses + 1
        if self.misses >= MISSES:
            self.forget()

    def forget(self) -> None:
        """Drop the learnt frame; an operator's selector and kept lines stay."""
        self.pages = self.misses = 0
        self.boxes.clear()
        self.lines.clear()

    def to_json(self) -> dict[str, Any]:
        """Return plain values; lines of a single article are left out."""
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
        """Return the frame whose ``to_json`` is ``values``; a new one for {}."""
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
    """Return the body by a site's frame if that is trusted, else as found without one.

    The lines that the site repeats are still in it: ``FrameView.clean`` removes them.
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
    """Return the body in the one box of a selector; empty if there are none or several."""
    try:
        boxes = tree.css(selector)
    except SelectolaxError:  # an operator's selector that is invalid
        return NOTHING
    if len(boxes) != 1:
        return NOTHING
    layout = lay_out(boxes[0])
    return body_of(layout, choose_in(layout))._replace(box=selector)


def _agree(one: Body, other: Body) -> bool:
    first = {fold(line) for line in one.text.split("\n")}
    second = {fold(line) for line in other.text.split("\n")}
    return len(first & second) >= AGREES * max(len(first), len(second))
