"""Marks: pages that a reader marked as wanted or not, and the model that learns from them.

Marks are stored as JSON lines. A model is learnt from them when it is needed, in any process, and
is sent to others as JSON.
"""

from __future__ import annotations

import hashlib
import math
from heapq import nlargest
from typing import TYPE_CHECKING, Self

import numpy as np

from topiccrawl.model import Mark, Page, Verdict
from topiccrawl.topics.classifier import Classifier, Sample, fit
from topiccrawl.topics.documents import bucket, document, word_weights
from topiccrawl.topics.pagekind import own_share
from topiccrawl.topics.scorer import LOWER_LIMIT, Scorer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from topiccrawl.topics.contract import Reasons, RelevanceModel

DECIDES = 0.5
"""Probability from which a page is relevant."""

REASONS = 10
"""Words of an explanation."""

UNMARKED = (0.5,)
"""Share of the learnt words without marks: there are no held-out marks to choose a better one."""

CACHED = 100_000
"""Words whose weight is cached, some 10 MB; then the cache is cleared."""

NO_WORDS = document({})

DERIVED = 20
"""Most words that are derived from examples."""


class MarkedModel:
    """Model that judges by a topic's words and by marks. Immutable; a ``RelevanceModel``.

    Relevance is the probability that an article of these words is wanted, harvest that this page
    is wanted; both are calibrated for the pages of a crawl.

    Args:
        scorer: Scorer by the topic's words.
        classifier: Classifier learnt with this scorer.
    """

    def __init__(self, scorer: Scorer, classifier: Classifier) -> None:
        self.scorer = scorer
        self.classifier = classifier
        self._known = _Weights(classifier)

    def score_page(self, page: Page) -> Verdict:
        """Return probabilities, and the words that decided."""
        by_words = self.scorer.score_page(page)
        weights = _weights(page.title, Scorer.judged_text(page), self.scorer)
        added = {word: value * self._known[word] for word, value in weights.items()}
        learnt = sum(added.values())
        sample = Sample(NO_WORDS, by_words.relevance, by_words.article)
        harvest = probability(self.classifier.odds(sample) + learnt)
        whole = self.classifier.odds(sample._replace(article=1.0)) + learnt
        relevance = max(harvest, probability(whole))
        return by_words._replace(
            relevance=relevance,
            relevant=relevance >= DECIDES,
            terms=self._reasons(added, sample, by_words),
            article=harvest / relevance if relevance else 1.0,
        )

    def explain(self, page: Page) -> Reasons:
        """Return the words that decided, with the log-odds that each adds, heaviest first."""
        return self.score_page(page).terms

    def signature(self) -> str:
        """Return a text that changes with the topic, the marks, and the method of learning."""
        text = f"{self.scorer.signature()} {self.classifier.to_json()}"
        return f"marks-{hashlib.sha256(text.encode()).hexdigest()[:12]}"

    def to_json(self) -> str:
        """Return the learnt part, for another process with the same topic."""
        return self.classifier.to_json()

    @classmethod
    def from_json(cls, scorer: Scorer, text: str) -> Self:
        """Return the model that ``to_json`` wrote, over an equal scorer."""
        return cls(scorer, Classifier.from_json(text))

    def _reasons(self, added: dict[str, float], sample: Sample, by_words: Verdict) -> Reasons:
        """Return the words that add most; the score's part is split among the topic's terms."""
        for term, share in by_words.terms if by_words.relevance else ():
            part = self.classifier.score_weight * sample.by_words * share / by_words.relevance
            added[term] = added.get(term, 0.0) + part
        heavy = nlargest(REASONS, added.items(), key=lambda pair: abs(pair[1]))
        return tuple(pair for pair in heavy if pair[1])


class _Weights(dict[str, float]):
    """Learnt weights of words; each is looked up once, most words of a page were seen before."""

    def __init__(self, classifier: Classifier) -> None:
        self._classifier = classifier

    def __missing__(self, word: str) -> float:
        if len(self) >= CACHED:
            self.clear()
        place = np.array([bucket(word)], np.int64)
        found = self[word] = float(self._classifier.weight_at(place)[0])
        return found


class OnWordScale:
    """Model of probabilities with relevance on the scale of words' scores. A ``RelevanceModel``.

    What reads relevance in a crawl (orders, limits, forecasts) is made for that scale: the odds
    times the lower limit, so that a probability of one half is the limit. The order is the same.

    Args:
        model: Model whose relevance is a probability, relevant from one half.
        scorer: Scorer by words, for the limit.
    """

    def __init__(self, model: RelevanceModel, scorer: Scorer) -> None:
        self.model = model
        self._limit = scorer.lower_limit or LOWER_LIMIT

    def score_page(self, page: Page) -> Verdict:
        """Return the model's verdict with its relevance on the scale of words."""
        verdict = self.model.score_page(page)
        others = 1.0 - verdict.relevance
        odds = verdict.relevance / others if others else math.inf
        return verdict._replace(relevance=min(1.0, self._limit * odds))

    def explain(self, page: Page) -> Reasons:
        """Return the words that decided, with the log-odds that each adds, heaviest first."""
        return self.model.explain(page)

    def signature(self) -> str:
        """Return the model's signature, marked."""
        return f"{self.model.signature()}-scaled"


def learn(scorer: Scorer, marks: Iterable[Mark], background: Iterable[Mark] = ()) -> RelevanceModel:
    """Learn from marks.

    Args:
        scorer: Scorer by the topic's words.
        marks: Marks of readers; a later mark of a URL replaces an earlier one.
        background: Pages without a mark, drawn from the crawl; some 200 are enough.

    Returns:
        A model for all pages; the scorer itself if no page is wanted, or if there are only wanted
        pages and no background.
    """
    last = {mark.url: mark for mark in marks}.values()
    on, off = ([sample_of(scorer, m) for m in last if m.wanted is side] for side in (True, False))
    known = {mark.url for mark in last}
    others = [sample_of(scorer, mark) for mark in background if mark.url not in known]
    if not on or not (off or others):
        return scorer
    return MarkedModel(scorer, fit(on, off, others))


def learn_unmarked(
    scorer: Scorer, best: Iterable[Mark], background: Iterable[Mark]
) -> RelevanceModel:
    """Learn without marks from the pages that score best by the topic's words.

    It cannot drift: only the topic's words choose the pages, and they keep half of the log-odds.
    Useful for topics of few words.

    Args:
        scorer: Scorer by the topic's words.
        best: Some ten pages of the crawl with the largest harvest by words.
        background: Pages drawn from the crawl; some 200.
    """
    chosen = {mark.url: mark for mark in best}
    on = [sample_of(scorer, mark) for mark in chosen.values()]
    others = [sample_of(scorer, mark) for mark in background if mark.url not in chosen]
    if not on or not others:
        return scorer
    return MarkedModel(scorer, fit(on, (), others, UNMARKED))


def mark_of(page: Page, *, wanted: bool | None = None) -> Mark:
    """Return the mark of a page."""
    return Mark(page.url, page.title, Scorer.judged_text(page), wanted, own_share(page))


def sample_of(scorer: Scorer, mark: Mark) -> Sample:
    """Return a marked page as input of the classifier."""
    relevance = scorer.score_text(mark.text, mark.title, mark.url).relevance
    return Sample(document(_weights(mark.title, mark.text, scorer)), relevance, mark.article)


def derived_terms(examples: Sequence[Mark], background: Sequence[Mark] = ()) -> dict[str, float]:
    """Return terms for a topic that is given by examples only: at most ``DERIVED``, heaviest 1.

    They are the words of the examples' mean vector, less that of other pages (Rocchio); words of
    only one of several examples are left out.

    Args:
        examples: Pages on topic.
        background: Pages of all kinds.
    """
    vectors = [word_weights(mark.text, mark.title) for mark in examples]
    mean = _mean(vectors)
    other = _mean([word_weights(mark.text, mark.title) for mark in background])
    least = min(2, len(vectors))
    heavy = {
        word: weight - other.get(word, 0.0)
        for word, weight in mean.items()
        if sum(word in vector for vector in vectors) >= least
    }
    chosen = sorted(heavy.items(), key=lambda pair: (-pair[1], pair[0]))[:DERIVED]
    top = chosen[0][1] if chosen else 0.0
    return {word: round(weight / top, 3) for word, weight in chosen if weight > top / 100}


def probability(odds: float) -> float:
    """Return the probability of log-odds.

    >>> probability(0.0), probability(-1000.0)
    (0.5, 0.0)
    """
    return 1 / (1 + math.exp(-odds)) if odds > 0 else math.exp(odds) / (1 + math.exp(odds))


def _weights(title: str, text: str, scorer: Scorer) -> dict[str, float]:
    return word_weights(text, title, scorer.tokenizer, scorer.idf)


def _mean(vectors: Sequence[Mapping[str, float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for vector in vectors:
        for word, weight in vector.items():
            total[word] = total.get(word, 0.0) + weight / len(vectors)
    return total
