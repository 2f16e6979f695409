"""What marks teach: draws of marks, models learnt from them, figures over the pages left."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.judge_measures import Draw, draw, draw_actively, mean, measure
from topiccrawl.relevance import Scorer, SiteWords
from topiccrawl.relevance.classifier import Sample, fit
from topiccrawl.relevance.documents import document, word_weights
from topiccrawl.relevance.marks import Mark, derived_terms, probability
from topiccrawl.relevance.pagekind import own_share
from topiccrawl.topic import Topic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from benchmarks.judge_measures import Measured
    from benchmarks.judge_webs import Web
    from topiccrawl.relevance.classifier import Classifier
    from topiccrawl.relevance.documents import Document

SIZES = (5, 10, 30)
EXAMPLES = 5
POOL = 300
"""Unmarked pages among which active learning looks for those it is least sure about."""

CONDITIONS = ("examples", *(f"{kind}{size}" for kind in ("marks", "active") for size in SIZES))


class Chance(NamedTuple):
    """How marks are drawn.

    Attributes:
        draws: How often.
        seed: Of the source of chance.
        background: Unmarked pages, their labels unused.
    """

    draws: int = 5
    seed: int = 1
    background: int = 200


class Judged(NamedTuple):
    """A web's pages as a classifier sees them, but for a topic.

    Attributes:
        web: Where they come from.
        documents: Their words.
        articles: How far each is something to read.
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
    """Relevance of all pages by the words of a topic, once each site's words are known."""
    scorer = Scorer(topic, sites=SiteWords())
    for page in web.pages:
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
            yield f"marks{size}", mean(_left(samples, labels, one) for one in drawn)
        if f"active{size}" in wanted:
            asked = [_active(samples, labels, size, chance, one) for one in dice]
            yield f"active{size}", mean(_left(samples, labels, one) for one in asked)
    if "examples" in wanted:
        shown = [draw(labels, EXAMPLES, chance.background, one) for one in dice]
        yield "examples", mean(_by_example(judged, labels, one) for one in shown)


def learnt(samples: Sequence[Sample], known: Draw) -> Classifier:
    """The classifier of a draw."""
    return fit(*([samples[place] for place in part] for part in known))


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

    ask: Callable[[Draw, Sequence[int]], Sequence[int]] = unsure
    return draw_actively(labels, size, chance.background, dice, ask)


def _by_example(judged: Judged, labels: Sequence[bool], known: Draw) -> Measured:
    """A topic of which nothing is said but pages on it: its words are derived from them."""
    shown = known._replace(off=())
    pages = judged.web.pages
    on, others = (
        [Mark.of(pages[place]) for place in part] for part in (shown.on, shown.background)
    )
    topic = Topic(name="by example", terms=derived_terms(on, others))
    return _left(judged.samples(relevances(judged.web, topic)), labels, shown)


def _left(samples: Sequence[Sample], labels: Sequence[bool], known: Draw) -> Measured:
    """Measure a draw's classifier over the pages that it did not learn from."""
    model, used = learnt(samples, known), known.used
    left = [place for place in range(len(labels)) if place not in used]
    scores = [probability(model.odds(samples[place])) for place in left]
    return measure(scores, [labels[place] for place in left])
