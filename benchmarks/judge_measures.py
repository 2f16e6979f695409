"""Measures and draws of ``benchmarks.judge``: pure functions over scores and labels."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.metrics import average_precision_score, precision_recall_curve

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterable, Sequence

BINS = 10
"""Bins of equal width over which the calibration error is taken."""

FIRST = 2
"""Marks of each kind with which active learning begins."""

ASKED = 5
"""Pages that active learning asks for before the model is fitted again."""


class Measured(NamedTuple):
    """Fit of scores to labels.

    Attributes:
        ap: Average precision.
        f1: Best F1 over all thresholds.
        ece: Expected calibration error of the scores, read as probabilities.
    """

    ap: float
    f1: float
    ece: float


class Draw(NamedTuple):
    """Places of the pages that a model may learn from: marked on topic, marked off, unmarked."""

    on: tuple[int, ...]
    off: tuple[int, ...]
    background: tuple[int, ...]

    @property
    def used(self) -> frozenset[int]:
        """Places that leave the evaluation."""
        return frozenset((*self.on, *self.off, *self.background))


def measure(scores: Sequence[float], labels: Sequence[bool]) -> Measured:
    """Measure scores in [0, 1] against labels.

    >>> measure([0.9, 0.1, 0.4], [True, False, False])
    Measured(ap=1.0, f1=1.0, ece=0.2)
    """
    known, given = np.asarray(labels, dtype=bool), np.asarray(scores, dtype=float)
    precision, recall, _ = precision_recall_curve(known, given)
    f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-12)
    places = np.minimum((given * BINS).astype(int), BINS - 1)
    gaps = [
        abs(given[places == b].mean() - known[places == b].mean()) * (places == b).mean()
        for b in np.unique(places)
    ]
    return Measured(
        float(average_precision_score(known, given)), float(f1.max()), round(float(sum(gaps)), 9)
    )


def mean(many: Iterable[Measured]) -> Measured:
    """The mean of each measure."""
    return Measured(*(fmean(column) for column in zip(*many, strict=True)))


def draw(labels: Sequence[bool], marks: int, background: int, dice: random.Random) -> Draw:
    """Draw marks of each kind, at most half of the positives, and other pages as background."""
    on, off = _by_label(labels)
    chosen_on = dice.sample(on, min(marks, len(on) // 2))
    chosen_off = dice.sample(off, min(marks, len(off) // 2))
    return _with_background(labels, chosen_on, chosen_off, background, dice)


def draw_actively(
    labels: Sequence[bool],
    marks: int,
    background: int,
    dice: random.Random,
    unsure: Callable[[Draw, Sequence[int]], Sequence[int]],
) -> Draw:
    """Draw as many marks as ``draw`` does in all, those that a model asks for.

    Args:
        labels: Truth; it answers what is asked.
        marks: Half of the marks.
        background: Unmarked pages.
        dice: Random generator.
        unsure: Orders places by how unsure a model of this draw is about them, least sure first.
    """
    most = min(2 * marks, sum(labels))
    known = draw(labels, min(FIRST, marks), background, dice)
    while (asked := len(known.on) + len(known.off)) < most:
        room = sum(labels) // 2 - len(known.on)
        order = unsure(known, [n for n in range(len(labels)) if n not in known.used])
        new = order[: min(ASKED, most - asked)]
        on = [n for n in new if labels[n]][: max(0, room)]
        off = [n for n in new if not labels[n]]
        if not on and not off:
            break
        known = Draw((*known.on, *on), (*known.off, *off), known.background)
    return known


def _by_label(labels: Sequence[bool]) -> tuple[list[int], list[int]]:
    on = [n for n, label in enumerate(labels) if label]
    return on, [n for n, label in enumerate(labels) if not label]


def _with_background(
    labels: Sequence[bool],
    on: Sequence[int],
    off: Sequence[int],
    background: int,
    dice: random.Random,
) -> Draw:
    marked = {*on, *off}
    others = [n for n in range(len(labels)) if n not in marked]
    return Draw(
        tuple(on), tuple(off), tuple(dice.sample(others, min(background, len(others) // 2)))
    )
