"""Parsing of labelled texts by the kind of their label."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.addons.records.templates.values import address, names, plain
from topiccrawl.addons.records.templates.values.telephone import telephones
from topiccrawl.addons.records.templates.values.value import OBJECT, Value, shown

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
    if kind == "telephone":
        return telephones(text, region)
    if kind == "postcode":
        return plain.postcodes(text, region)
    if kind == "date":
        return plain.dates(text, region)
    return _READERS[kind](text)


def _text(text: str) -> list[Value]:
    written = shown(text).strip(_EDGES)
    fits = written and len(written) <= LONGEST_TEXT and any(map(str.isalnum, written))
    return [Value(written, 0, len(text))] if fits and OBJECT not in text else []


_READERS: dict[str, Callable[[str], list[Value]]] = {
    "address": address.address,
    "name": names.name,
    "mail": plain.mails,
    "url": plain.urls,
    "qq": plain.qqs,
    "number": plain.numbers,
    "text": _text,
}
