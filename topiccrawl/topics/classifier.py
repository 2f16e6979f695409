"""A classifier of pages by their words, learnt from a few marks; pure numbers in and out.

Logistic regression over hashed TF-IDF words, with the score by the topic's words as one more
feature. Marks on and off topic weigh the same, and pages without a mark are weak negatives, since
few pages of a crawl are wanted. There are far more words than pages, so the regression is fitted
in the space of the pages (eigenvectors of their Gram matrix), which gives the same weights.

Cross-validation decides how far the classifier replaces the topic's words: the log-odds of both
are mixed by the share that fits held-out marks best. Probabilities are calibrated on held-out
log-odds (Platt 1999), then corrected for the rarity of pages on topic among the unmarked ones
(Saerens, Latinne and Decaestecker 2002), since marks are half and half.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from topiccrawl.topics.documents import Document

    Floats = npt.NDArray[np.float64]
    Places = npt.NDArray[np.int64]

STRENGTH = 10.0
"""Inverse of the regularisation (scikit-learn's C): few pages, many words."""

FOLDS = 5
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Shares of the classifier that cross-validation tries; of equally good ones the smaller wins."""

HALF = 0.1
"""Score by words that counts as half: from it a page is certainly on topic (UPPER_LIMIT)."""

ROUNDS = 50
"""Steps of the correction for rarity."""


class Sample(NamedTuple):
    """A page as input of the classifier.

    Attributes:
        document: Its words.
        relevance: Its relevance by the topic's words, in [0, 1].
        article: Its article share, in [0, 1].
    """

    document: Document
    relevance: float
    article: float = 1.0

    @property
    def by_words(self) -> float:
        """The score by words as a feature, in [0, 1)."""
        score = self.relevance * self.article
        return score / (score + HALF)


@dataclass(frozen=True)
class Classifier:
    """A fitted classifier: log-odds are linear in words and score. Immutable.

    Attributes:
        places: Buckets with a weight, ascending.
        weights: Their weights.
        score_weight: Weight of ``Sample.by_words`` in the mix of both fits.
        bias: Log-odds of an empty page, corrected for rarity.
        share: Share of the learnt words in the log-odds, in [0, 1].
    """

    places: Places
    weights: Floats
    score_weight: float
    bias: float
    share: float

    def odds(self, sample: Sample) -> float:
        """Return the log-odds that the page is wanted."""
        return self.bias + self.score_weight * sample.by_words + self.words(sample.document)

    def words(self, document: Document) -> float:
        """Return the log-odds that the words of a page add."""
        return float(self.weight_at(document.places) @ document.values)

    def weight_at(self, places: Places) -> Floats:
        """Return the weights of buckets; 0 for those not learnt."""
        if not len(self.places):
            return np.zeros(len(places))
        found = np.minimum(np.searchsorted(self.places, places), len(self.places) - 1)
        return np.where(self.places[found] == places, self.weights[found], 0.0)

    def to_json(self) -> str:
        """Return the model as a JSON object."""
        return json.dumps(
            {
                "places": [int(place) for place in self.places],
                "weights": [round(float(weight), 6) for weight in self.weights],
                "score_weight": self.score_weight,
                "bias": self.bias,
                "share": self.share,
            }
        )

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the model that ``to_json`` wrote."""
        found = json.loads(text)
        places, weights = np.array(found["places"], dtype=np.int64), np.array(found["weights"])
        return cls(places, weights, found["score_weight"], found["bias"], found["share"])


def fit(
    on: Sequence[Sample],
    off: Sequence[Sample],
    background: Sequence[Sample],
    shares: Sequence[float] = SHARES,
) -> Classifier:
    """Fit a classifier.

    Args:
        on: Pages marked on topic, at least one.
        off: Pages marked off topic; may be empty if there is a background.
        background: Pages without a mark, drawn from all.
        shares: Candidate shares of the learnt words in the log-odds; cross-validation chooses.

    Raises:
        ValueError: If one of both sides is empty.
    """
    if not on or not (off or background):
        raise ValueError("a classifier needs pages on topic and others")
    space = _Space([*on, *off, *background], len(on), len(off))
    everything = np.arange(len(space.labels))
    held = _held_out(space)
    share = min(shares, key=lambda s: (round(_loss(space, held @ (s, 1 - s)), 6), s))
    mixed = held @ (share, 1 - share)
    slope, offset = _platt(space, mixed)
    offset += _rarity(slope * mixed[space.unmarked] + offset)
    words, score = space.fit_both(everything)
    places, weights = space.words(words.weights * (slope * share))
    return Classifier(
        places,
        weights,
        float(slope * (share * space.score(words.weights) + (1 - share) * score.weights[0])),
        float(slope * (share * words.bias + (1 - share) * score.bias) + offset),
        float(share),
    )


class _Line(NamedTuple):
    """Log-odds as a line: of coordinates in the space of pages, or of the score alone."""

    weights: Floats
    bias: float


class _Space:
    """The pages as rows, and their coordinates in the space that they span.

    Attributes:
        labels: 1 for the first ``on`` rows.
        unmarked: Rows of the background.
    """

    def __init__(self, samples: Sequence[Sample], on: int, off: int) -> None:
        from scipy.sparse import csr_matrix  # noqa: PLC0415 - only where something is learnt

        sizes = [len(sample.document.places) for sample in samples]
        indices = np.concatenate([sample.document.places for sample in samples])
        self._buckets, columns = np.unique(indices, return_inverse=True)
        values = np.concatenate([sample.document.values for sample in samples])
        shape = (len(samples), len(self._buckets))
        self._rows = csr_matrix((values, columns, np.cumsum([0, *sizes])), shape)
        self._scores = np.array([sample.by_words for sample in samples])
        gram = (self._rows @ self._rows.T).toarray() + np.outer(self._scores, self._scores)
        heights, vectors = np.linalg.eigh(gram)
        kept = heights > 1e-9 * max(1.0, heights[-1])
        self._back = vectors[:, kept] / np.sqrt(heights[kept])
        self._places = vectors[:, kept] * np.sqrt(heights[kept])
        self.labels = (np.arange(len(samples)) < on).astype(float)
        self.unmarked = np.arange(on + off, len(samples))
        self.marked = np.arange(on + off)
        self._kinds = np.repeat([0, 1, 2], [on, off, len(samples) - on - off])

    def fit_both(self, rows: Places) -> tuple[_Line, _Line]:
        """Fit by words and score, and by score alone, on some of the pages."""
        scores = self._scores[:, np.newaxis]
        return self._fit(self._places, rows), self._fit(scores, rows)

    def both(self, lines: tuple[_Line, _Line], rows: Places) -> Floats:
        """Return the log-odds of pages by both fits, a column each."""
        words, score = lines
        by_words = self._places[rows] @ words.weights + words.bias
        return np.stack([by_words, self._scores[rows] * score.weights[0] + score.bias], axis=1)

    def words(self, weights: Floats) -> tuple[Places, Floats]:
        """Return buckets and their weights."""
        found = self._rows.T @ (self._back @ weights)
        kept = np.abs(found) > 1e-6  # noqa: PLR2004 - rounding of ``to_json``
        return self._buckets[kept], found[kept]

    def score(self, weights: Floats) -> float:
        """Return the weight of the score by words."""
        return float(self._scores @ (self._back @ weights))

    def weights(self, rows: Places) -> Floats:
        """Return sample weights: half for on topic, half shared by marks off and background."""
        kinds = self._kinds[rows]
        counts = np.bincount(kinds, minlength=3)
        others = (counts[1:] > 0).sum()
        each = np.array([0.5, 0.5 / max(others, 1), 0.5 / max(others, 1)]) / np.maximum(counts, 1)
        weights: Floats = each[kinds] * len(rows)
        return weights

    def folds(self) -> list[Places]:
        """Return held-out rows by fold: each kind is distributed in turn, in the order given."""
        turns = np.concatenate([np.arange((self._kinds == kind).sum()) for kind in range(3)])
        return [np.flatnonzero(turns % FOLDS == fold) for fold in range(FOLDS)]

    def _fit(self, columns: Floats, rows: Places) -> _Line:
        from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - half a second

        model = LogisticRegression(C=STRENGTH, max_iter=500)
        model.fit(columns[rows], self.labels[rows], sample_weight=self.weights(rows))
        return _Line(model.coef_[0], float(model.intercept_[0]))


def _held_out(space: _Space) -> Floats:
    """Return the log-odds of each page by fits without it."""
    held = np.zeros((len(space.labels), 2))
    for out in space.folds():
        rest = np.setdiff1d(np.arange(len(space.labels)), out)
        if len(out) and 0 < space.labels[rest].sum() < len(rest):
            held[out] = space.both(space.fit_both(rest), out)
    return held


def _loss(space: _Space, odds: Floats) -> float:
    """Return the weighted logistic loss of held-out log-odds after calibration."""
    rows = np.arange(len(odds))
    slope, offset = _calibrated(space, odds, rows)
    signed = np.where(space.labels > 0, 1.0, -1.0) * (slope * odds + offset)
    return float(np.average(np.logaddexp(0.0, -signed), weights=space.weights(rows)))


def _platt(space: _Space, odds: Floats) -> tuple[float, float]:
    """Return slope and offset that calibrate held-out log-odds of the marks, half and half."""
    marks_only = not space.labels[space.marked].all()
    return _calibrated(space, odds, space.marked if marks_only else np.arange(len(odds)))


def _calibrated(space: _Space, odds: Floats, rows: Places) -> tuple[float, float]:
    """Return slope (above 0) and offset of a logistic regression on held-out log-odds."""
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - half a second

    model = LogisticRegression(C=1.0)
    model.fit(odds[rows, np.newaxis], space.labels[rows], sample_weight=space.weights(rows))
    slope = float(model.coef_[0, 0])
    return (slope, float(model.intercept_[0])) if slope > 0 else (1.0, 0.0)


def _rarity(odds: Floats) -> float:
    """Return the correction of log-odds for pages on topic being rarer than half.

    The share counts one wanted page and one other besides those given (Laplace's rule).
    """
    if not len(odds):
        return 0.0
    share = 0.5
    for _ in range(ROUNDS):
        prior = np.log(share / (1 - share))
        found = np.sum(1 / (1 + np.exp(-(odds + prior))))
        share = min(0.5, float(found + 1) / (len(odds) + 2))
    return float(np.log(share / (1 - share)))
