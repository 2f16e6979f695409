"""Candidates: values of a page whose owner is not known yet."""

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
        field: Name of the template's field.
        value: Normalized value; URL of the image if ``image``.
        text: The value as written.
        where: Kind of place (keys of ``weights.WEIGHTS``).
        line: Number of the label's line; of the value's line without a label.
        weight: Weight of the label, in [0, 1].
        image: Whether the value is shown as an image.
        at: Number of the value's line; -1 if it is in no line.
        begin: Offset in that line; -1 if not known.
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


def holds_only(values: Sequence[Value], text: str, words: int = 0) -> bool:
    """Return whether a text has at most ``words`` characters besides the values."""
    left = text
    for value in sorted(values, key=lambda one: -one.start):
        left = left[: value.start] + " " + left[value.end :]
    return len("".join(_PIECES.split(left)).strip("-.·*")) <= words
