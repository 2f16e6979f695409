"""Parsers of values in texts, one per kind; equal values are normalized to one spelling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.addons.records.templates.values.address import addresses
from topiccrawl.addons.records.templates.values.mail import mails
from topiccrawl.addons.records.templates.values.names import names
from topiccrawl.addons.records.templates.values.plain import (
    OBJECT,
    Value,
    dates,
    numbers,
    postcodes,
    qqs,
    shown,
    urls,
)
from topiccrawl.addons.records.templates.values.telephone import telephones

if TYPE_CHECKING:
    from collections.abc import Callable

    from topiccrawl.addons.records.templates.template import ValueKind

_EDGES = " ,;:|-·。"
LONGEST_TEXT = 300
"""Maximum length of a value of kind ``text``, in characters."""


def read_values(kind: ValueKind, text: str, region: str) -> list[Value]:
    """Return the values of a kind in a labelled text, in order; empty if the text does not match.

    >>> [one.value for one in read_values("telephone", "028-85123456", "CN")]
    ['+86 28 8512 3456']
    """
    if kind in _REGIONAL:
        return _REGIONAL[kind](text, region)
    return _PARSERS[kind](text)


def _texts(text: str) -> list[Value]:
    written = shown(text).strip(_EDGES)
    fits = OBJECT not in text and len(written) <= LONGEST_TEXT and any(map(str.isalnum, written))
    return [Value(written, 0, len(text))] if fits else []


_REGIONAL = {"telephone": telephones, "postcode": postcodes}
_PARSERS: dict[str, Callable[[str], list[Value]]] = {
    "name": names,
    "text": _texts,
    "mail": mails,
    "url": urls,
    "qq": qqs,
    "number": numbers,
    "date": dates,
    "address": addresses,
}
