"""Candidates: values of a page whose owner is not known yet; weights of the places they are in.

The source [S1] weights the tags around a keyword, but does not give the weights; these are our own
(methods section 7), as confidences in [0, 1]. A weight is the share of correct values in such a
place on the demo's tuning layouts. A value in several places has a higher confidence.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.addons.records.templates.values.value import Value

_PIECES = re.compile(r"[\s,;、/|()\x1f:]+")

WEIGHTS = {
    "json-ld": 0.96,
    "microdata": 0.95,
    "table": 0.97,
    "list": 0.97,
    "line": 0.97,
    "column": 0.95,
    "pair": 0.93,
    "below": 0.88,
    "link": 0.93,
    "alt": 0.85,
    "icon": 0.88,
    "text": 0.85,
    "alone": 0.72,
    "image": 0.90,
}
"""Weights of values next to a label (``table``, ``list``, ``line``, ``pair``, ``column``, and
``below``: in a further line), in a link's address, in an image's ``alt``, after an icon, in running
text, and on a separate line (``alone``)."""
ZONES = {"main": 1.0, "footer": 0.97, "header": 0.95, "side": 0.93, "nav": 0.85, "links": 0.4}
"""Factors of these weights by the zone of the page."""
NAMES = {
    "json-ld": 0.9,
    "microdata": 0.9,
    "label": 0.95,
    "site": 0.8,
    "heading": 0.78,
    "copyright": 0.75,
    "footer": 0.5,
    "title": 0.7,
    "intro": 0.6,
    "host": 0.45,
    "logo": 0.5,
    "brand": 0.4,
    "text": 0.2,
}
"""Weights of the voters for a subject's name: structured data, a label, ``og:site_name``
(``site``), a heading before values, the copyright notice, the footer, a part of the title with a
legal form, an introductory sentence, the host, the logo, any other part of the title (``brand``),
running text."""
MIN_CONFIDENCE = 0.5
"""Minimum confidence of a value in a record."""
MIN_NAME_CONFIDENCE = 0.3
"""Minimum confidence of the name; a title alone is sufficient."""
MAX_CONFIDENCE = 0.995
_REPEATED = 0.6


class Candidate(NamedTuple):
    """A value in a page.

    Attributes:
        field: Name of the template's field.
        value: Normalized value; URL of the image if ``image``.
        text: The value as written.
        where: Kind of place (keys of ``WEIGHTS``).
        at: Number of the value's line.
        begin: Offset in that line; -1 if not known.
        labelled_at: Number of the label's line; -1 without a label.
        weight: Weight of the label, in [0, 1].
        image: Whether the value is shown as an image.
    """

    field: str
    value: str
    text: str
    where: str
    at: int
    begin: int = -1
    labelled_at: int = -1
    weight: float = 1.0
    image: bool = False

    @property
    def line(self) -> int:
        """Number of the label's line, or of the value's line without a label."""
        return self.labelled_at if self.labelled_at >= 0 else self.at


def holds_only(values: Sequence[Value], text: str, words: int = 0) -> bool:
    """Return whether a text has at most ``words`` characters besides the values."""
    left = text
    for value in sorted(values, key=lambda one: -one.start):
        left = left[: value.start] + " " + left[value.end :]
    return len("".join(_PIECES.split(left)).strip("-.·*")) <= words


def combined(weights: list[float]) -> float:
    """Return the confidence of a value in several places; further places count less.

    >>> [round(combined(weights), 3) for weights in ([0.9], [0.9, 0.9], [])]
    [0.9, 0.954, 0.0]
    """
    doubt = 1.0
    for number, weight in enumerate(sorted(weights, reverse=True)):
        doubt *= 1 - weight * (_REPEATED if number else 1.0)
    return min(MAX_CONFIDENCE, 1 - doubt)
