"""A value that may be one of the page's subject."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.addons.records.templates.values.value import Value

_PIECES = re.compile(r"[\s,;、/|()\x1f:]+")


class Candidate(NamedTuple):
    """A value in a page.

    Attributes:
        field: Of the template.
        value: In one spelling; an image's address where ``image``.
        text: As written.
        where: Kind of its place (``weights.WEIGHTS``).
        line: Number of the line of its label, or of itself without one.
        weight: How much its label counts, in [0, 1].
        image: Whether it is shown as an image.
        at: Number of the line of the value.
        begin: Its offset in that line; -1 where that does not matter.
    """

    field: str
    value: str
    text: str
    where: str
    line: int
    weight: float = 1.0
    image: bool = False
    at: int = -1
    begin: int = -1


def only(values: Sequence[Value], text: str, words: int = 0) -> bool:
    """Return whether a text holds only values, and at most so many characters of words."""
    left = text
    for value in sorted(values, key=lambda one: -one.start):
        left = left[: value.start] + " " + left[value.end :]
    return len("".join(_PIECES.split(left)).strip("-.·*")) <= words
