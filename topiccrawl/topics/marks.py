"""Relevance model trained on marks: pages that a user marked as wanted or not.

Marks are stored as JSON lines. A model is trained when needed, in any process, and is sent to other
processes as JSON.
"""

from __future__ import annotations

import hashlib
import json
import math
from heapq import nlargest
from typing import TYPE_CHECKING, Self

from topiccrawl.links.urls import canonical
from topiccrawl.model import LINKS, Mark, Page, Verdict
from topiccrawl.topics.classifier import Classifier, Sample, bucket, document, fit, word_weights
from topiccrawl.topics.pagekind import own_share
from topiccrawl.topics.scorer import LOWER_LIMIT, Scorer
from topiccrawl.topics.vector import TopicVector

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from topiccrawl.topics.contract import Reasons, RelevanceModel
    from topiccrawl.topics.topic import Topic

DECISION_LIMIT = 0.5
"""Probability from which a page is relevant."""

MIN_WANTED = 2
"""Least wanted pages of a model: a single one cannot be both learned from and held out."""

MAX_REASONS = 10
"""Most words of an explanation."""

NO_WORDS = document({})

MAX_DERIVED = 20
"""Most words derived from examples."""

BACKGROUND = 20
"""Most background pages whose words are subtracted from a derived topic; each takes 1 to 2 ms."""


class MarkedModel:
    """Relevance model by topic words and marks. Immutable; a ``RelevanceModel``.

    Relevance is the probability that an article with these words is wanted. Harvest is the
    probability that this page is wanted. Both are calibrated for the pages of a crawl.

    Args:
        scorer: Scorer by topic words.
        classifier: Classifier trained with this scorer.
        links: Whether the links to a page count, as they did in training.
    """

    def __init__(self, scorer: Scorer, classifier: Classifier, *, links: bool = True) -> None:
        self.scorer = scorer
        self.classifier = classifier
        self.links = links

    def score_page(self, page: Page) -> Verdict:
        """Return relevance and harvest as probabilities, and the decisive words."""
        by_words = self.scorer.score_page(page if self.links else page._replace(expected=None))
        weights = _weights(page.title, Scorer.judged_text(page), self.scorer)
        learnt_weight = self.classifier.weights.get
        added = {word: v * learnt_weight(bucket(word), 0.0) for word, v in weights.items()}
        learnt = sum(added.values())
        sample = Sample(NO_WORDS, by_words.relevance, by_words.article)
        harvest = probability(self.classifier.odds(sample) + learnt)
        whole = self.classifier.odds(sample._replace(article=1.0)) + learnt
        relevance = max(harvest, probability(whole))
        return by_words._replace(
            relevance=relevance,
            relevant=relevance >= DECISION_LIMIT,
            terms=self._reasons(added, sample, by_words),
            article=harvest / relevance if relevance else 1.0,
            by_words=by_words.for_links,
        )

    def explain(self, page: Page) -> Reasons:
        """Return the decisive words with their log-odds, largest first."""
        return self.score_page(page).terms

    def signature(self) -> str:
        """Return a text that identifies topic, marks and training method."""
        text = f"{self.scorer.signature()} {self.to_json()}"
        return f"marks-{hashlib.sha256(text.encode()).hexdigest()[:12]}"

    def to_json(self) -> str:
        """Return the learned part, for another process with the same topic."""
        return json.dumps({"links": self.links, "classifier": self.classifier.to_json()})

    @classmethod
    def from_json(cls, scorer: Scorer, text: str) -> Self:
        """Load a model from the result of ``to_json``, with an equal scorer."""
        found = json.loads(text)
        return cls(scorer, Classifier.from_json(found["classifier"]), links=found["links"])

    def _reasons(self, added: dict[str, float], sample: Sample, by_words: Verdict) -> Reasons:
        """Return the largest contributions; that of the score is split among the topic terms.

        The entry of the links is kept.
        """
        words = by_words.for_links
        for term, share in words.terms if words.relevance else ():
            part = self.classifier.score_weight * sample.by_words * share / words.relevance
            added[term] = added.get(term, 0.0) + part
        heavy = nlargest(MAX_REASONS, added.items(), key=lambda pair: abs(pair[1]))
        links = (pair for pair in by_words.terms[-1:] if pair[0] == LINKS)
        return (*(pair for pair in heavy if pair[1]), *links)


class OnWordScale:
    """Wrapper that maps probabilities to the scale of scores by words. A ``RelevanceModel``.

    Strategies, limits and forecasts of a crawl expect that scale. The relevance is the odds times
    the lower limit, so that a probability of 0.5 maps to the lower limit. The order is unchanged.

    Args:
        model: Model whose relevance is a probability, relevant from 0.5.
        scorer: Scorer by topic words.
    """

    def __init__(self, model: RelevanceModel, scorer: Scorer) -> None:
        self.model = model
        self._limit = scorer.lower_limit or LOWER_LIMIT

    def score_page(self, page: Page) -> Verdict:
        """Return the model's verdict with relevance on the scale of scores by words."""
        verdict = self.model.score_page(page)
        others = 1.0 - verdict.relevance
        odds = verdict.relevance / others if others else math.inf
        return verdict._replace(relevance=min(1.0, self._limit * odds))

    def explain(self, page: Page) -> Reasons:
        """Return the decisive words with their log-odds, largest first."""
        return self.model.explain(page)

    def signature(self) -> str:
        """Return the model's signature with a suffix."""
        return f"{self.model.signature()}-scaled"


def learn(scorer: Scorer, marks: Iterable[Mark], background: Iterable[Mark] = ()) -> RelevanceModel:
    """Train a model on marks.

    The links to pages count if they are known of most marks. Texts, examples and marks of earlier
    versions have none: by words alone they score higher than the pages that the model would judge.

    Args:
        scorer: Scorer by topic words.
        marks: Marks of users; a later mark of a URL replaces an earlier one.
        background: Unmarked pages sampled from the crawl; about 200 are enough.

    Returns:
        The trained model. The scorer itself if fewer than ``MIN_WANTED`` pages are wanted, if all
        pages are wanted and there is no background, or if nothing separates wanted from unwanted
        pages: a model without weights gives every page the same probability.
    """
    last = {mark.url: mark for mark in marks}
    links = 2 * sum(mark.expected is not None for mark in last.values()) > len(last)
    if not links:
        last = {mark.url: mark for mark in without_links(last.values())}
        background = without_links(background)
    on = [sample_of(scorer, mark) for mark in last.values() if mark.wanted is True]
    off = [sample_of(scorer, mark) for mark in last.values() if mark.wanted is False]
    others = [sample_of(scorer, mark) for mark in background if mark.url not in last]
    if len(on) < MIN_WANTED or not (off or others):
        return scorer
    classifier = fit(on, off, others, scorer.lower_limit)
    informed = classifier.weights or classifier.score_weight
    return MarkedModel(scorer, classifier, links=links) if informed else scorer


def mark_of(page: Page, *, wanted: bool | None = None) -> Mark:
    """Create a mark of a page."""
    text, share = Scorer.judged_text(page), own_share(page)
    return Mark(page.url, page.title, text, wanted, share, page.expected)


def as_page(mark: Mark) -> Page:
    """Convert a mark to a page with its text."""
    return Page(mark.url, mark.title, mark.text, prose=mark.text, expected=mark.expected)


def without_links(marks: Iterable[Mark]) -> list[Mark]:
    """Return the marks without what the links to their pages predicted."""
    return [mark._replace(expected=None) for mark in marks]


def sample_of(scorer: Scorer, mark: Mark) -> Sample:
    """Convert a mark to input of the classifier."""
    relevance = scorer.score_page(as_page(mark)).relevance
    return Sample(document(_weights(mark.title, mark.text, scorer)), relevance, mark.article)


def derived_terms(examples: Sequence[Mark], background: Sequence[Mark] = ()) -> dict[str, float]:
    """Derive at most ``MAX_DERIVED`` topic terms from examples; the largest weight is 1.

    The weights are the mean vector of the examples less the mean vector of the background
    (Rocchio). With several examples, words that occur in only one are left out.

    Args:
        examples: Pages on topic.
        background: Background pages of all kinds.
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
    chosen = sorted(heavy.items(), key=lambda pair: (-pair[1], pair[0]))[:MAX_DERIVED]
    top = chosen[0][1] if chosen else 0.0
    return {word: round(weight / top, 3) for word, weight in chosen if weight > top / 100}


def probability(odds: float) -> float:
    """Return the probability for log-odds.

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


def example_urls(topic: Topic) -> Iterator[tuple[str, bool]]:
    """Yield canonical URLs of examples (with True) and counterexamples (with False)."""
    for example, wanted in _examples(topic):
        if url := canonical(example):
            yield url, wanted


def example_texts(topic: Topic) -> list[Mark]:
    """Return the examples and counterexamples that are texts as marks."""
    return [
        Mark(f"example:{hashlib.sha256(text.encode()).hexdigest()[:12]}", "", text, wanted)
        for text, wanted in _examples(topic)
        if canonical(text) is None
    ]


def derived_vector(marks: Sequence[Mark], pages: Sequence[Mark]) -> TopicVector:
    """Derive a topic vector from words that wanted pages share; empty without wanted pages.

    Args:
        marks: Marked pages.
        pages: Background pages of all kinds.
    """
    known = {mark.url for mark in marks}
    others = [page for page in pages if page.url not in known][:BACKGROUND]
    others += [mark for mark in marks if not mark.wanted]
    return TopicVector.of(derived_terms([mark for mark in marks if mark.wanted], others))


def _examples(topic: Topic) -> Iterator[tuple[str, bool]]:
    yield from ((example, True) for example in topic.examples)
    yield from ((example, False) for example in topic.counterexamples)
