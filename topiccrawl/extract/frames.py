"""Extraction with the frame of a site: the box of its article bodies, and its repeated lines.

The box is searched first, and repeated lines are removed (after CN101694658). A sample of pages is
also extracted without the frame. If the results disagree, the site has changed.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from topiccrawl.extract.blocks import lay_out
from topiccrawl.extract.body import NOTHING, Body, body_of, find_body
from topiccrawl.extract.density import choose
from topiccrawl.text.digest import fold

AGREES = 0.8
"""Minimum share of common lines, relative to the longer text."""

MISSES = 3
"""Consecutive failed checks before the frame is rebuilt."""


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
        if trial.misses(self.misses) >= MISSES:
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

    def misses(self, before: int) -> int:
        """Return the number of consecutive failed checks, including this one."""
        return before if self.agrees is None else 0 if self.agrees else before + 1


class LearningFrame(Protocol):
    """Frame of a site that learns from its pages, such as that of the add-on ``frames``."""

    def view(self) -> FrameView:
        """Return the view for the next page."""

    def learn(self, trial: FrameTrial, body: Body | None) -> None:
        """Learn from the result on a page, and from its body if it is an article."""


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
    return (framed if used and not trial.misses(view.misses) else generic), trial


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
