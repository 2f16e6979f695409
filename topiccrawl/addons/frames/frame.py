"""Learning of site frames from articles (after CN101694658).

A frame is learned from a few articles of a site: text that differs between pages is content,
repeated text is boilerplate. The box that contained most bodies is searched first, and lines shared
by many bodies are removed. If the results with and without the frame disagree, the site has changed
and the frame is rebuilt. A selector set by the operator is kept.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from topiccrawl.extract.frames import MISSES, FrameTrial, FrameView

if TYPE_CHECKING:
    from collections.abc import Mapping

    from topiccrawl.extract.body import Body

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

MOST_LINES, LONGEST = 600, 200
"""Most lines stored, and most characters of a line; repeated lines are short."""


@dataclass
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

    pages: int = 0
    boxes: Counter[str] = field(default_factory=Counter)
    lines: Counter[str] = field(default_factory=Counter)
    by_hand: str = ""
    kept: set[str] = field(default_factory=set)
    misses: int = 0

    def __post_init__(self) -> None:
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

        >>> from topiccrawl.extract.body import Body
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
        self.misses = trial.misses(self.misses)
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
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return values | {"lines": lines, "kept": sorted(self.kept)}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> SiteFrame:
        """Load a frame from the result of ``to_json``; {} gives a new frame."""
        counts = {name: Counter(values.get(name, {})) for name in ("boxes", "lines")}
        return cls(**{**values, **counts, "kept": set(values.get("kept", ()))})
