"""A value in a text."""

from __future__ import annotations

from typing import NamedTuple

from topiccrawl.text.normal import normalise

SOFT = "\x1f"
"""Marks where an inline element begins or ends in a text: a blank to patterns, not shown."""

OBJECT = "\ufffc"
"""Replaces an entry field in a text."""


class Value(NamedTuple):
    """A value in a text.

    Attributes:
        value: In one spelling.
        start: Offset in the text.
        end: Offset of its end.
    """

    value: str
    start: int
    end: int


def seen(text: str) -> str:
    r"""Return the text as shown: soft marks removed, blanks folded, in NFKC.

    >>> seen("028\x1f-85 \x1f 12")
    '028-85 12'
    """
    return " ".join(normalise(text.replace(SOFT, "").replace(OBJECT, "")).split())
