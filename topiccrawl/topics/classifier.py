"""Classifier of pages by their words, trained on a few marked pages.

Logistic regression over hashed TF-IDF words, with the score by topic words as an additional
feature. Marks on and off topic have equal total weights. Unmarked pages are weak negatives, since
few pages of a crawl are wanted.

Cross-validation determines the share of the classifier against the topic words: the log-odds of
both are mixed with the share that fits held-out marks best. Probabilities are calibrated on
held-out log-odds (Platt 1999). Since the training classes are balanced, the log-odds are shifted
until the number of accepted unmarked pages is plausible (``_cut``).
"""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from xxhash import xxh32_intdigest

from topiccrawl.text.idf import Idf, corpus_idf
from topiccrawl.text.tokens import Tokenizer, shared_tokenizer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt
    from scipy.sparse import csr_array

    Floats = npt.NDArray[np.float64]
    Places = npt.NDArray[np.int64]

BUCKETS = 1 << 18
"""Dimensions of a vector; of 40,000 distinct words one in seven shares its bucket."""

TITLE_WEIGHT = 3
"""Weight of words in the title, relative to words in the text."""

STRENGTH = 10.0
"""Inverse regularization strength (``C`` of scikit-learn), for few pages and many words."""

FOLDS = 5
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Candidate shares of the classifier for cross-validation; the smaller wins ties."""

HALF = 0.1
"""Score by topic words at which the feature is 0.5; equals ``UPPER_LIMIT``."""


class Document(NamedTuple):
    """Sparse vector with L2 norm 1, or empty.

    Attributes:
        places: Distinct buckets of the words, ascending.
        values: TF-IDF of the buckets, above 0.
    """

    places: Places
    values: Floats


def bucket(word: str) -> int:
    """Return the bucket of a word; the same on all machines."""
    return xxh32_intdigest(word.encode()) % BUCKETS


def word_weights(
    text: str, title: str = "", tokenizer: Tokenizer | None = None, idf: Idf | None = None
) -> dict[str, float]:
    """Return the TF-IDF ``sqrt(tf) · idf`` of a text's words without numbers, with L2 norm 1.

    Args:
        text: Text of the page, in any width, case or script.
        title: Title of the page.
        tokenizer: Tokenizer; None for the shared tokenizer.
        idf: Inverse document frequencies; None for the bundled table.

    >>> word_weights("football, football", "")
    {'football': 1.0}
    """
    cut, rarity = tokenizer or shared_tokenizer(), idf or corpus_idf()
    counts = Counter(cut.words(text))
    for word in cut.words(title):
        counts[word] += TITLE_WEIGHT
    weights = {w: math.sqrt(n) * rarity(w) for w, n in counts.items() if not w.isdecimal()}
    norm = math.sqrt(sum(weight * weight for weight in weights.values()))
    return {word: weight / norm for word, weight in weights.items()}


def document(weights: Mapping[str, float]) -> Document:
    """Hash weighted words to a vector; weights in the same bucket are added."""
    places = np.fromiter(map(bucket, weights), np.int64, len(weights))
    unique, inverse = np.unique(places, return_inverse=True)
    values = np.zeros(len(unique))
    np.add.at(values, inverse, np.fromiter(weights.values(), np.float64, len(weights)))
    return Document(unique, values)


class Sample(NamedTuple):
    """A page as input to the classifier.

    Attributes:
        document: Word vector.
        relevance: Relevance by topic words, in [0, 1].
        article: Article share, in [0, 1].
    """

    document: Document
    relevance: float
    article: float = 1.0

    @property
    def by_words(self) -> float:
        """Score by topic words as a feature, in [0, 1)."""
        score = self.relevance * self.article
        return score / (score + HALF)


@dataclass(frozen=True)
class Classifier:
    """Fitted, immutable classifier with log-odds linear in words and score.

    Attributes:
        weights: Weights of word buckets; 0 for other buckets.
        score_weight: Weight of ``Sample.by_words``.
        bias: Log-odds of an empty page.
        share: Share of the learned words in the log-odds, in [0, 1].
    """

    weights: Mapping[int, float]
    score_weight: float
    bias: float
    share: float

    def odds(self, sample: Sample) -> float:
        """Return the log-odds that the page is wanted."""
        return self.bias + self.score_weight * sample.by_words + self.words(sample.document)

    def words(self, document: Document) -> float:
        """Return the contribution of a page's words to the log-odds."""
        pairs = zip(document.places.tolist(), document.values.tolist(), strict=True)
        return float(sum(self.weights.get(place, 0.0) * value for place, value in pairs))

    def to_json(self) -> str:
        """Return the model as a JSON object."""
        return json.dumps(
            {
                "places": list(self.weights),
                "weights": [round(weight, 6) for weight in self.weights.values()],
                "score_weight": self.score_weight,
                "bias": self.bias,
                "share": self.share,
            }
        )

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Load a classifier from the result of ``to_json``."""
        found = json.loads(text)
        weights = dict(zip(found["places"], found["weights"], strict=True))
        return cls(weights, found["score_weight"], found["bias"], found["share"])


def fit(
    on: Sequence[Sample], off: Sequence[Sample], background: Sequence[Sample], limit: float
) -> Classifier:
    """Fit a classifier.

    Args:
        on: Pages marked on topic, at least one.
        off: Pages marked off topic; may be empty if there is a background.
        background: Unmarked pages, sampled from all pages.
        limit: Relevance by topic words from which a page is on topic.

    Raises:
        ValueError: There is no positive page or no negative page.
    """
    if not on or not (off or background):
        raise ValueError("a classifier needs at least one page on topic and one other page")
    pages = _Pages([*on, *off, *background], len(on), len(off))
    all_rows = np.arange(len(pages.labels))
    held_out = _held_out(pages)
    share = min(SHARES, key=lambda s: (round(_loss(pages, held_out @ (s, 1 - s)), 6), s))
    mixed = held_out @ (share, 1 - share)
    slope, offset = _calibrate_marks(pages, mixed)
    if background:
        accepted = sum(page.relevance * page.article >= limit for page in background)
        offset -= _cut(slope * mixed[pages.unmarked] + offset, accepted)
    words, score = pages.fit_both(all_rows)
    weights = words.weights[:-1] * (slope * share)
    kept = np.abs(weights) > 1e-6  # noqa: PLR2004 - rounding of ``to_json``
    return Classifier(
        dict(zip(pages.buckets[kept].tolist(), weights[kept].tolist(), strict=True)),
        float(slope * (share * words.weights[-1] + (1 - share) * score.weights[0])),
        float(slope * (share * words.bias + (1 - share) * score.bias) + offset),
        float(share),
    )


class _LinearModel(NamedTuple):
    """Linear model of log-odds: weights of the columns, and the log-odds without any."""

    weights: Floats
    bias: float


class _Pages:
    """Pages as rows of a matrix: a column for each word bucket, the last one for the score.

    Attributes:
        labels: 1 for the first ``on`` rows.
        unmarked: Rows of the background.
    """

    def __init__(self, samples: Sequence[Sample], on: int, off: int) -> None:
        from scipy.sparse import csr_array, hstack  # noqa: PLC0415 - only where something is learnt

        sizes = [len(sample.document.places) for sample in samples]
        indices = np.concatenate([sample.document.places for sample in samples])
        self.buckets, columns = np.unique(indices, return_inverse=True)
        values = np.concatenate([sample.document.values for sample in samples])
        shape = (len(samples), len(self.buckets))
        words = csr_array((values, columns, np.cumsum([0, *sizes])), shape)
        self._scores = np.array([[sample.by_words] for sample in samples])
        self._rows = hstack([words, csr_array(self._scores)], format="csr")
        self.labels = (np.arange(len(samples)) < on).astype(float)
        self.unmarked = np.arange(on + off, len(samples))
        self.marked = np.arange(on + off)
        self._kinds = np.repeat([0, 1, 2], [on, off, len(samples) - on - off])

    def fit_both(self, rows: Places) -> tuple[_LinearModel, _LinearModel]:
        """Fit two models on some rows: one by words and score, one by score only."""
        return self.fit(self._rows, rows, STRENGTH), self.fit(self._scores, rows, STRENGTH)

    def both(self, models: tuple[_LinearModel, _LinearModel], rows: Places) -> Floats:
        """Return the log-odds of rows by both models, one column each."""
        words, score = models
        by_words = self._rows[rows] @ words.weights + words.bias
        return np.stack([by_words, self._scores[rows, 0] * score.weights[0] + score.bias], axis=1)

    def weights(self, rows: Places) -> Floats:
        """Return sample weights: half for positives, half shared by negatives and background."""
        kinds = self._kinds[rows]
        counts = np.bincount(kinds, minlength=3)
        others = (counts[1:] > 0).sum()
        each = np.array([0.5, 0.5 / others, 0.5 / others]) / np.maximum(counts, 1)
        weights: Floats = each[kinds] * len(rows)
        return weights

    def folds(self) -> list[Places]:
        """Return held-out rows by fold; each kind of row is distributed round-robin."""
        order = np.concatenate([np.arange((self._kinds == kind).sum()) for kind in range(3)])
        return [np.flatnonzero(order % FOLDS == fold) for fold in range(FOLDS)]

    def fit(self, columns: csr_array | Floats, rows: Places, strength: float) -> _LinearModel:
        """Fit a logistic regression of the labels of some rows on columns."""
        from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - half a second

        model = LogisticRegression(C=strength, max_iter=500)
        model.fit(columns[rows], self.labels[rows], sample_weight=self.weights(rows))
        return _LinearModel(model.coef_[0], float(model.intercept_[0]))


def _held_out(pages: _Pages) -> Floats:
    """Return the log-odds of each page by models that were fitted without it."""
    held_out = np.zeros((len(pages.labels), 2))
    for fold in pages.folds():
        training = np.setdiff1d(np.arange(len(pages.labels)), fold)
        if len(fold) and 0 < pages.labels[training].sum() < len(training):
            held_out[fold] = pages.both(pages.fit_both(training), fold)
    return held_out


def _loss(pages: _Pages, odds: Floats) -> float:
    """Return the weighted logistic loss of held-out log-odds after calibration."""
    rows = np.arange(len(odds))
    slope, offset = _calibrate(pages, odds, rows)
    signed = np.where(pages.labels > 0, 1.0, -1.0) * (slope * odds + offset)
    return float(np.average(np.logaddexp(0.0, -signed), weights=pages.weights(rows)))


def _calibrate_marks(pages: _Pages, odds: Floats) -> tuple[float, float]:
    """Fit slope and offset that calibrate the held-out log-odds of balanced marks."""
    marks_only = not pages.labels[pages.marked].all()
    return _calibrate(pages, odds, pages.marked if marks_only else np.arange(len(odds)))


def _calibrate(pages: _Pages, odds: Floats, rows: Places) -> tuple[float, float]:
    """Fit slope (above 0) and offset of a logistic regression on held-out log-odds."""
    (slope,), offset = pages.fit(odds[:, np.newaxis], rows, 1.0)
    return (float(slope), offset) if slope > 0 else (1.0, 0.0)


def _cut(odds: Floats, accepted: int) -> float:
    """Return the log-odds that separate wanted from other unmarked pages.

    Balanced marks do not tell how many pages are wanted. Topic words accept too many, and a model
    of few marks any number; the number of wanted pages is estimated as the mean of both.

    Args:
        odds: Log-odds of the unmarked pages for balanced classes, at least one.
        accepted: Number of these pages that the topic words accept.
    """
    wanted = (accepted + int((odds >= 0).sum())) // 2
    least = np.sort(odds)[-max(wanted, 1)]
    below = odds[odds < least]
    return float((least + below.max()) / 2 if len(below) else least)
