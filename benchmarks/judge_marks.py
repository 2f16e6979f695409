"""Marks for the relevance benchmark: random draws, trained models, and measures on other pages."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.judge_measures import Draw, draw, draw_actively, mean, measure
from topiccrawl.topics import Scorer, SiteWords
from topiccrawl.topics.classifier import Sample, document, fit, word_weights
from topiccrawl.topics.marks import DECISION_LIMIT, derived_terms, mark_of, probability
from topiccrawl.topics.pagekind import own_share
from topiccrawl.topics.scorer import LOWER_LIMIT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchmarks.judge_measures import Measured
    from benchmarks.judge_webs import Web
    from topiccrawl.topics.classifier import Classifier, Document
    from topiccrawl.topics.topic import Topic

SIZES = (5, 10, 30)
EXAMPLES = 5
OBSERVED = 300
"""Pages from which a site's words are learnt."""
POOL = 300
"""Unmarked pages from which active learning selects the least certain ones."""

CONDITIONS = (
    "examples",
    *(f"{kind}{size}" for kind in ("marks", "active") for size in SIZES),
)


class Chance(NamedTuple):
    """Random draw of marks.

    Attributes:
        draws: Number of draws.
        seed: Seed of the random generator.
        background: Unmarked pages, their labels unused.
    """

    draws: int = 5
    seed: int = 1
    background: int = 200


class Judged(NamedTuple):
    """Pages of a web as input of a classifier, before a topic is chosen.

    Attributes:
        web: Source of the pages.
        documents: Their words.
        articles: How far each is an article.
    """

    web: Web
    documents: tuple[Document, ...]
    articles: tuple[float, ...]

    @classmethod
    def of(cls, web: Web) -> Judged:
        """The pages of a web."""
        documents = (
            document(word_weights(Scorer.judged_text(page), page.title)) for page in web.pages
        )
        return cls(web, tuple(documents), tuple(map(own_share, web.pages)))

    def samples(self, relevances: Sequence[float]) -> list[Sample]:
        """The pages with their relevance by a topic's words."""
        return list(map(Sample, self.documents, relevances, self.articles))


def relevances(web: Web, topic: Topic) -> list[float]:
    """Relevance of all pages by the words of a topic, once the words of its site are known."""
    scorer = Scorer(topic, sites=SiteWords())
    observed = min(OBSERVED, len(web.pages))
    for page in random.Random(0).sample(web.pages, observed):  # noqa: S311
        scorer.observe(page)
    return [scorer.score_page(page).relevance for page in web.pages]


def marked(
    judged: Judged,
    labels: Sequence[bool],
    by_words: Sequence[float],
    chance: Chance,
    wanted: Sequence[str],
) -> Iterator[tuple[str, Measured]]:
    """Yield the means over the draws of each wanted condition."""
    samples = judged.samples(by_words)
    dice = [random.Random(chance.seed + n) for n in range(chance.draws)]  # noqa: S311
    for size in SIZES:
        if f"marks{size}" in wanted:
            drawn = [draw(labels, size, chance.background, one) for one in dice]
            yield from _both(f"marks{size}", samples, labels, drawn)
        if f"active{size}" in wanted:
            asked = [_active(samples, labels, size, chance, one) for one in dice]
            yield from _both(f"active{size}", samples, labels, asked)
    if "examples" in wanted:
        shown = [draw(labels, EXAMPLES, chance.background, one) for one in dice]
        yield "examples", mean(_by_example(judged, labels, one) for one in shown)


def learnt(samples: Sequence[Sample], known: Draw) -> Classifier:
    """The classifier of a draw."""
    on, off, background = ([samples[place] for place in part] for part in known)
    return fit(on, off, background, LOWER_LIMIT)


def _active(
    samples: Sequence[Sample],
    labels: Sequence[bool],
    size: int,
    chance: Chance,
    dice: random.Random,
) -> Draw:
    def unsure(known: Draw, places: Sequence[int]) -> list[int]:
        model = learnt(samples, known)
        pool = dice.sample(list(places), min(POOL, len(places)))
        return sorted(pool, key=lambda place: abs(model.odds(samples[place])))

    return draw_actively(labels, size, chance.background, dice, unsure)


def _by_example(judged: Judged, labels: Sequence[bool], known: Draw) -> Measured:
    """Return a topic whose words are derived from pages."""
    shown = known._replace(off=())
    pages = judged.web.pages
    on, others = (
        [mark_of(pages[place]) for place in part] for part in (shown.on, shown.background)
    )
    by_words = _cosines(judged.documents, derived_terms(on, others))
    return _left(judged.samples(by_words), labels, shown)


def _cosines(documents: Sequence[Document], terms: Mapping[str, float]) -> list[float]:
    """Relevance by single words, as the scorer gives it, from the words of the pages."""
    wanted = document(terms)
    weights = dict(zip(wanted.places.tolist(), wanted.values.tolist(), strict=True))
    norm = math.sqrt(sum(weight * weight for weight in weights.values()))
    return [
        sum(
            weights.get(place, 0.0) * value
            for place, value in zip(one.places.tolist(), one.values.tolist(), strict=True)
        )
        / norm
        for one in documents
    ]


def _both(
    kind: str, samples: Sequence[Sample], labels: Sequence[bool], draws: Sequence[Draw]
) -> Iterator[tuple[str, Measured]]:
    """Yield the measures with marks, and with the words alone over the same pages."""
    yield kind, mean(_left(samples, labels, one) for one in draws)
    before = []
    for one in draws:
        left = one.others(len(labels))
        harvest = [samples[place].relevance * samples[place].article for place in left]
        before.append(measure(harvest, [labels[place] for place in left]))
    yield f"{kind}_before", mean(before)


def _left(samples: Sequence[Sample], labels: Sequence[bool], known: Draw) -> Measured:
    """Measure a draw's classifier over the pages that it did not learn from."""
    model, left = learnt(samples, known), known.others(len(labels))
    scores = [probability(model.odds(samples[place])) for place in left]
    return measure(scores, [labels[place] for place in left], DECISION_LIMIT)
