"""A value in a text."""

from __future__ import annotations

from typing import NamedTuple

from topiccrawl.text.normal import normalise

SOFT = "\x1f"
"""Stands in a text where an inline element begins or ends: a blank to patterns, nothing to eyes."""

OBJECT = "\ufffc"
"""Stands in a text for an entry field."""


class Value(NamedTuple):
    """A value in a text.

    Attributes:
        value: In one spelling.
        start: Where it stands in the text.
        end: Where it ends.
    """

    value: str
    start: int
    end: int


def seen(text: str) -> str:
    r"""The text as eyes see it: soft marks gone, blanks folded, in NFKC.

    >>> seen("028\x1f-85 \x1f 12")
    '028-85 12'
    """
    return " ".join(normalise(text.replace(SOFT, "").replace(OBJECT, "")).split())
