"""Measures and draws of ``benchmarks.judge``: pure functions over scores and labels."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.metrics import average_precision_score, f1_score, precision_recall_curve

from topiccrawl.topics.scorer import LOWER_LIMIT

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
        decided: F1 at the limit from which a crawl stores pages.
        ece: Expected calibration error of the scores, read as probabilities.
    """

    ap: float
    f1: float
    decided: float
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

    def others(self, number: int) -> list[int]:
        """Return the places, of ``number``, that the model may not learn from."""
        used = self.used
        return [place for place in range(number) if place not in used]


def measure(
    scores: Sequence[float], labels: Sequence[bool], limit: float = LOWER_LIMIT
) -> Measured:
    """Measure scores in [0, 1] against labels; scores from ``limit`` on say that a page is wanted.

    >>> measure([0.9, 0.1, 0.4], [True, False, False], 0.3)
    Measured(ap=1.0, f1=1.0, decided=0.6666666666666666, ece=0.2)
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
        float(average_precision_score(known, given)),
        float(f1.max()),
        float(f1_score(known, given >= limit, zero_division=0.0)),
        round(float(sum(gaps)), 9),
    )


def mean(many: Iterable[Measured]) -> Measured:
    """The mean of each measure."""
    return Measured(*(fmean(column) for column in zip(*many, strict=True)))


def draw(labels: Sequence[bool], marks: int, background: int, dice: random.Random) -> Draw:
    """Draw marks of each kind, at most half of the positives, and other pages as background."""
    places = range(len(labels))
    on, off = (
        dice.sample(known, min(marks, len(known) // 2))
        for known in ([n for n in places if labels[n] is wanted] for wanted in (True, False))
    )
    others = [n for n in places if n not in {*on, *off}]
    unmarked = dice.sample(others, min(background, len(others) // 2))
    return Draw(tuple(on), tuple(off), tuple(unmarked))


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
        order = unsure(known, known.others(len(labels)))
        new = order[: min(ASKED, most - asked)]
        on = [n for n in new if labels[n]][: max(0, room)]
        off = [n for n in new if not labels[n]]
        if not on and not off:
            break
        known = Draw((*known.on, *on), (*known.off, *off), known.background)
    return known
