"""A value in a text."""

from __future__ import annotations

from typing import NamedTuple

from topiccrawl.text.normal import normalise

SOFT = "\x1f"
"""Boundary of an inline element in a text; patterns treat it as a space, ``shown`` removes it."""

OBJECT = "\ufffc"
"""Placeholder of a form field in a text."""


class Value(NamedTuple):
    """A value in a text.

    Attributes:
        value: The normalized value.
        start: Offset in the text.
        end: End offset in the text.
    """

    value: str
    start: int
    end: int


def shown(text: str) -> str:
    r"""Return a text as displayed: without boundary marks, whitespace collapsed, in NFKC.

    >>> shown("028\x1f-85 \x1f 12")
    '028-85 12'
    """
    return " ".join(normalise(text.replace(SOFT, "").replace(OBJECT, "")).split())
