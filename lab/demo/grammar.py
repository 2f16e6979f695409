"""Sentences from templates: the grammar of the demo web's vocabulary.

``{slot}`` is a word drawn once per story, ``{slot+}`` one drawn each time, ``{n 10 99}`` a whole
number, ``{f 1 9}`` one with a decimal, ``[a|b]`` one of the alternatives. Words may be templates.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping, Sequence

_TOKEN = re.compile(r"\{([^{}]*)\}|([\[|\]])|([^{}\[|\]]+|[{}])")
"""A slot, a bracket, or literal text."""


class Slot(NamedTuple):
    """A word to fill in, and whether it is drawn each time."""

    name: str
    redrawn: bool


class Figure(NamedTuple):
    """A number in [low, high], with a number of decimals."""

    low: int
    high: int
    decimals: int


class Choice(NamedTuple):
    """One of several pieces."""

    pieces: tuple[Template, ...]


Piece = str | Slot | Figure | Choice
Template = tuple[Piece, ...]
"""A parsed template."""


@cache
def parse(text: str) -> Template:
    """Parse a template.

    Raises:
        ValueError: If a bracket is not closed.

    >>> parse("{maker}[sold|built] {n 2 9} cars")[2:]
    (' ', Figure(low=2, high=9, decimals=0), ' cars')
    """
    levels: list[list[list[Piece]]] = [[[]]]
    for slot, mark, literal in _TOKEN.findall(text):
        if mark:
            _bracket(levels, mark, text)
        else:
            levels[-1][-1].append(literal or _slot(slot))
    if len(levels) != 1:
        raise ValueError(f"template with an open bracket: {text!r}")
    return tuple(levels[0][0])


def _slot(inner: str) -> Slot | Figure:
    words = inner.split()
    if len(words) > 1:
        return Figure(int(words[1]), int(words[2]), 1 if words[0] == "f" else 0)
    return Slot(inner.removesuffix("+"), redrawn=inner.endswith("+"))


def _bracket(levels: list[list[list[Piece]]], mark: str, text: str) -> None:
    if mark == "[":
        levels.append([[]])
    elif len(levels) == 1:
        raise ValueError(f"template with a stray {mark!r}: {text!r}")
    elif mark == "|":
        levels[-1].append([])
    else:
        pieces = levels.pop()
        levels[-1][-1].append(Choice(tuple(tuple(piece) for piece in pieces)))


class Writer:
    """Writes one story with three random generators, for templates, words and numbers.

    Two stories with the same ``shape`` and ``facts`` but different ``figures`` are like daily
    agency reports: same template and place, different numbers.

    Args:
        words: Words (templates) by slot.
        given: Values of fixed slots, such as the date.
        shape: Generator for templates and alternatives.
        facts: Generator for words.
        figures: Generator for numbers.
    """

    def __init__(
        self,
        words: Mapping[str, Sequence[str]],
        given: Mapping[str, str],
        shape: random.Random,
        facts: random.Random,
        figures: random.Random,
    ) -> None:
        self.words = words
        self.shape = shape
        self.facts = facts
        self.figures = figures
        self._fixed = dict(given)

    def write(self, text: str) -> str:
        """Return the text with every slot filled."""
        return "".join([self._piece(piece) for piece in parse(text)])

    def pick(self, texts: Sequence[str]) -> str:
        """Choose one of the texts and fill it."""
        return self.write(self.shape.choice(texts))

    def _piece(self, piece: Piece) -> str:
        if isinstance(piece, str):
            return piece
        if isinstance(piece, Slot):
            return self._word(piece)
        if isinstance(piece, Choice):
            chosen = piece.pieces[int(self.shape.random() * len(piece.pieces))]
            return "".join([self._piece(one) for one in chosen])
        share, span = self.figures.random(), piece.high - piece.low
        if piece.decimals:
            return f"{piece.low + share * span:.1f}"
        return str(piece.low + int(share * (span + 1)))

    def _word(self, slot: Slot) -> str:
        if not slot.redrawn and slot.name in self._fixed:
            return self._fixed[slot.name]
        options = self.words[slot.name]
        word = self.write(options[int(self.facts.random() * len(options))])
        if not slot.redrawn:
            self._fixed[slot.name] = word
        return word
