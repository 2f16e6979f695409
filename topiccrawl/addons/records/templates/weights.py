"""Weights of places: the tag weights of the source [S1], as confidences in [0, 1].

The source weighs the tags around a keyword and breaks off before saying how; these weights are
ours (methods section 7). A weight is the share of right values in such a place on the demo's tuning
layouts; values in several places are right more often than each alone.
"""

from __future__ import annotations

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
"""A value beside a label (``table``, ``list``, ``line``, ``pair``, ``column``; ``below``: in a
further line), in a link's address, in an image's ``alt``, after an icon, in running text, alone."""

ZONES = {"main": 1.0, "footer": 0.97, "header": 0.95, "side": 0.93, "nav": 0.85, "links": 0.4}
"""Factors of these weights by the part of the page that holds the value."""

NAMES = {
    "json-ld": 0.9,
    "microdata": 0.9,
    "label": 0.95,
    "site": 0.8,
    "heading": 0.78,
    "copyright": 0.75,
    "registered": 0.75,
    "footer": 0.5,
    "title": 0.7,
    "intro": 0.6,
    "host": 0.45,
    "logo": 0.5,
    "brand": 0.4,
    "echo": 0.3,
    "text": 0.2,
}
"""Weights of the voters for a subject's name: a label, ``og:site_name``, a heading before values,
the copyright, its registration, its place in the footer, a part of the title with a legal form, the
sentence that presents it, the host that spells it, the logo, any other part of the title, and
its echo in the page, running text."""

TAKEN = 0.5
"""Confidence from which a value enters a record."""
NAMED = 0.3
"""The same of the name, of which there is only one: a title alone is enough."""
SUREST = 0.995
_REPEATED = 0.6


def together(weights: list[float]) -> float:
    """Return the confidence of a value in several places; each further one counts less.

    >>> together([0.9]), round(together([0.9, 0.9]), 3), together([])
    (0.9, 0.954, 0.0)
    """
    doubt = 1.0
    for number, weight in enumerate(sorted(weights, reverse=True)):
        doubt *= 1 - weight * (_REPEATED if number else 1.0)
    return min(SUREST, 1 - doubt)
