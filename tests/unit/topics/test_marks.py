"""Tests of the relevance model that is trained on marked pages."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from topiccrawl.model import LINKS, Mark, Page
from topiccrawl.topics import Scorer
from topiccrawl.topics.classifier import Classifier, Sample, document, fit, word_weights
from topiccrawl.topics.marks import (
    MarkedModel,
    OnWordScale,
    derived_terms,
    derived_vector,
    learn,
    mark_of,
)
from topiccrawl.topics.topic import Topic

TOPIC = Topic(name="t", terms={"football": 1.0})
GAME = "goal keeper referee penalty striker midfield corner stadium".split()  # noqa: SIM905
HALL = "violin orchestra conductor symphony audience piano stage opera".split()  # noqa: SIM905
COMMON = "city evening people monday report begin open large new place".split()  # noqa: SIM905


def story(rng: random.Random, words: list[str], *, named: bool = False) -> str:
    chosen = rng.choices(words, k=12) + rng.choices(COMMON, k=12) + ["football"] * named
    rng.shuffle(chosen)
    return " ".join(chosen)


def make_marks(count: int, words: list[str], seed: int, *, wanted: bool | None) -> list[Mark]:
    rng = random.Random(seed)  # noqa: S311
    return [Mark(f"http://a.test/{seed}/{n}", "", story(rng, words), wanted) for n in range(count)]


def page(text: str) -> Page:
    return Page("http://a.test/page", "", text, prose=text)


def test_model_learns_words_that_the_topic_lacks() -> None:
    rng = random.Random(9)  # noqa: S311
    game, hall = page(story(rng, GAME)), page(story(rng, HALL))
    scorer = Scorer(TOPIC)
    assert scorer.score_page(game).relevance == scorer.score_page(hall).relevance == 0
    marks = make_marks(5, GAME, 1, wanted=True) + make_marks(5, HALL, 2, wanted=False)
    model = learn(scorer, marks, make_marks(40, HALL, 3, wanted=None))
    assert isinstance(model, MarkedModel)
    assert model.classifier.share > 0
    assert model.score_page(game).relevance > 0.5 > model.score_page(hall).relevance
    reasons = model.explain(game)
    assert {word for word, added in reasons if added > 0} & set(GAME)


def test_uninformative_marks_leave_the_word_scores() -> None:
    """Mark similar texts by the topic's word only: the classifier gets no share of the score."""
    rng = random.Random(4)  # noqa: S311
    marks = [
        Mark(f"http://a.test/{n}", "", story(rng, HALL + GAME, named=n % 2 == 0), n % 2 == 0)
        for n in range(20)
    ]
    model = learn(Scorer(TOPIC), marks)
    assert isinstance(model, MarkedModel)
    assert model.classifier.share <= 0.5
    assert model.score_page(page(story(rng, HALL, named=True))).relevant
    assert not model.score_page(page(story(rng, HALL))).relevant


def test_probabilities_are_calibrated_to_the_unmarked_pages() -> None:
    """Half of the marks are wanted, but only one in ten of the unmarked pages."""
    marks = make_marks(10, GAME, 1, wanted=True) + make_marks(10, HALL, 2, wanted=False)
    unmarked = make_marks(20, GAME, 3, wanted=None) + make_marks(180, HALL, 4, wanted=None)
    model = learn(Scorer(TOPIC), marks, unmarked)
    others = make_marks(20, GAME, 5, wanted=None) + make_marks(180, HALL, 6, wanted=None)
    mean = float(np.mean([model.score_page(page(mark.text)).harvest for mark in others]))
    assert mean == pytest.approx(0.1, abs=0.04)


@pytest.mark.parametrize("seed", range(5))
def test_few_marks_keep_most_pages_of_a_crawl_on_the_topic(seed: int) -> None:
    """Half of a focused crawl's unmarked pages are wanted; training takes them for negatives."""
    rng, rare = random.Random(seed), [f"word{number}" for number in range(400)]  # noqa: S311

    def pages(count: int, words: list[str], *, wanted: bool | None) -> list[Mark]:
        stories = [story(rng, words, named=True) for _ in range(count)]
        texts = [" ".join([text, *rng.choices(rare, k=40)]) for text in stories]
        return [Mark(f"http://a.test/{text}", "", text, wanted) for text in texts]

    marks = pages(2, GAME, wanted=True) + pages(2, HALL, wanted=False)
    unmarked = pages(60, GAME, wanted=None) + pages(60, HALL, wanted=None)
    model = learn(Scorer(TOPIC), marks, unmarked)
    kept, stored = (
        sum(model.score_page(page(one.text)).relevant for one in pages(100, words, wanted=None))
        for words in (GAME, HALL)
    )
    assert kept > max(60, stored)


def test_marks_are_json_and_the_last_mark_of_a_url_counts() -> None:
    mark = mark_of(page("足球 “引号”\n"), wanted=True)
    assert Mark(**json.loads(mark.to_json())) == mark
    assert "\n" not in mark.to_json()
    marks = make_marks(5, GAME, 1, wanted=True) + make_marks(5, HALL, 2, wanted=False)
    turned = [one._replace(wanted=not one.wanted) for one in marks]
    scorer = Scorer(TOPIC)
    assert learn(scorer, turned + marks).signature() == learn(scorer, marks).signature()
    assert learn(scorer, turned).signature() != learn(scorer, marks).signature()


def test_model_needs_wanted_and_unwanted_pages() -> None:
    scorer = Scorer(TOPIC)
    assert learn(scorer, []) is scorer
    assert learn(scorer, make_marks(3, GAME, 1, wanted=True)) is scorer
    assert (
        learn(scorer, make_marks(3, HALL, 1, wanted=False), make_marks(9, HALL, 2, wanted=None))
        is scorer
    )
    unmarked = make_marks(30, HALL, 2, wanted=None)
    assert learn(scorer, make_marks(1, GAME, 1, wanted=True), unmarked) is scorer
    examples = learn(
        scorer, make_marks(3, GAME, 1, wanted=True), make_marks(30, HALL, 2, wanted=None)
    )
    assert examples.score_page(page(" ".join(GAME))).relevance > 0.5


@pytest.mark.parametrize(("wanted", "unwanted"), [(2, 1), (3, 3), (20, 20)])
def test_marks_that_contradict_each_other_leave_the_words_of_the_topic(
    wanted: int, unwanted: int
) -> None:
    scorer, text = Scorer(TOPIC), "football goal keeper referee penalty"
    kinds = [True] * wanted + [False] * unwanted
    marks = [Mark(f"http://a.test/{n}", "", text, kind) for n, kind in enumerate(kinds)]
    model = learn(scorer, marks)
    assert model.score_page(page(text)).relevant
    assert not model.score_page(page("violin orchestra conductor")).relevant


def test_links_are_ordered_by_words_only() -> None:
    rng = random.Random(7)  # noqa: S311
    scorer = Scorer(TOPIC)
    marks = make_marks(5, GAME, 1, wanted=True) + make_marks(5, HALL, 2, wanted=False)
    game = page(story(rng, GAME))
    verdict = OnWordScale(learn(scorer, marks), scorer).score_page(game)
    assert verdict.relevance > 0
    assert verdict.for_links == scorer.score_page(game)


def test_model_learns_from_words_and_links() -> None:
    """A page whose links predict the topic is more probable than one whose links do not."""
    scorer, rng = Scorer(TOPIC), random.Random(7)  # noqa: S311
    on = [mark._replace(expected=0.8) for mark in make_marks(10, HALL, 1, wanted=True)]
    off = [mark._replace(expected=0.1) for mark in make_marks(10, HALL, 2, wanted=False)]
    model, text = learn(scorer, on + off), story(rng, HALL)
    found = [model.score_page(page(text)._replace(expected=one)) for one in (0.8, 0.1)]
    assert found[0].relevance > 0.5 > found[1].relevance
    assert found[0].terms[-1] == (LINKS, 0.8)
    assert found[0].for_links == scorer.score_page(page(text))


def test_links_are_ignored_if_most_marks_lack_them() -> None:
    """A text has no links; by its words alone it scores higher than a page with weak links."""
    rng = random.Random(7)  # noqa: S311
    on, off = make_marks(2, GAME, 1, wanted=True), make_marks(1, HALL, 2, wanted=False)
    game = page(story(rng, GAME, named=True))
    model = learn(Scorer(TOPIC), on + off)
    assert model.score_page(game._replace(expected=0.1)) == model.score_page(game)
    marked = [one._replace(expected=0.1) for one in make_marks(2, HALL, 3, wanted=False)]
    same = learn(Scorer(TOPIC), [*on, *off, *marked])
    assert same.score_page(game._replace(expected=0.1)) == same.score_page(game)
    marked += [one._replace(expected=0.8) for one in make_marks(2, GAME, 4, wanted=True)]
    more = learn(Scorer(TOPIC), [*on, *off, *marked])
    assert more.score_page(game._replace(expected=0.1)) != more.score_page(game)


def test_links_do_not_override_groups_and_excluded_words() -> None:
    strict = Topic(
        name="t", terms={"football": 1.0, "women": 1.0}, all_of=(("women",),), must_not=("fantasy",)
    )
    scorer = Scorer(strict)
    linked = [page(text)._replace(expected=1.0) for text in ("football", "women fantasy", "a game")]
    assert not any(scorer.score_page(one).relevant for one in linked)
    assert scorer.score_page(page("women")._replace(expected=1.0)).terms[-1] == (LINKS, 1.0)
    assert Scorer(TOPIC).score_page(page("a game")._replace(expected=1.0)).relevant


def test_marked_page_is_not_background() -> None:
    marks = make_marks(5, GAME, 1, wanted=True) + make_marks(5, HALL, 2, wanted=False)
    scorer = Scorer(TOPIC)
    again = [mark._replace(wanted=None) for mark in marks[:5]]
    assert learn(scorer, marks, again).signature() == learn(scorer, marks).signature()


def test_model_round_trips_through_json() -> None:
    marks = make_marks(5, GAME, 1, wanted=True) + make_marks(5, HALL, 2, wanted=False)
    model = learn(Scorer(TOPIC), marks)
    assert isinstance(model, MarkedModel)
    assert json.loads(model.to_json())["links"] is False
    same = MarkedModel.from_json(Scorer(TOPIC), model.to_json())
    seen = page(" ".join(GAME + HALL))
    assert same.score_page(seen).relevance == pytest.approx(
        model.score_page(seen).relevance, abs=1e-4
    )


def test_words_are_derived_from_examples() -> None:
    terms = derived_terms(make_marks(5, GAME, 1, wanted=True), make_marks(40, HALL, 2, wanted=None))
    assert set(list(terms)[:5]) <= set(GAME)
    assert max(terms.values()) == 1.0
    assert Topic(name="by example", terms=terms).terms == terms
    assert derived_terms([]) == {}


def test_fit_equals_the_plain_regression() -> None:
    """The weights are those of a regression over the words alone."""
    marks = make_marks(8, GAME, 1, wanted=True) + make_marks(8, HALL, 2, wanted=False)
    samples = [Sample(document(word_weights(mark.text)), 0.0) for mark in marks]
    words = sorted({int(place) for sample in samples for place in sample.document.places})
    rows = np.zeros((len(samples), len(words)))
    for row, sample in zip(rows, samples, strict=True):
        row[np.searchsorted(words, sample.document.places)] = sample.document.values
    plain = LogisticRegression(C=10.0, max_iter=500, tol=1e-8).fit(rows, [1] * 8 + [0] * 8)
    found = fit(samples[:8], samples[8:], (), 0.05)
    order = np.argsort([found.odds(sample) for sample in samples])
    expected = np.argsort(plain.decision_function(rows))
    assert found.share == 1.0
    assert np.array_equal(order[[0, -1]], expected[[0, -1]])
    ours = [found.weights.get(word, 0.0) for word in words]
    assert np.corrcoef(ours, plain.coef_[0])[0, 1] > 0.999


def test_empty_classifier_has_no_words() -> None:
    empty = Classifier({}, 1.0, 0.0, 0.0)
    assert empty.odds(Sample(document({"football": 1.0}), 0.0)) == 0.0
    assert empty.odds(Sample(document({}), 0.5)) > 0.0
    with pytest.raises(ValueError, match="needs at least one page"):
        fit([], [], [], 0.05)


def test_half_maps_to_the_word_limit_and_keeps_the_order() -> None:
    marks = make_marks(5, GAME, 1, wanted=True) + make_marks(5, HALL, 2, wanted=False)
    scorer = Scorer(TOPIC)
    model = learn(scorer, marks, make_marks(40, HALL, 3, wanted=None))
    assert isinstance(model, MarkedModel)
    rng = random.Random(8)  # noqa: S311
    kinds = (GAME, HALL, GAME[:4] + HALL[:4])
    pages = [page(story(rng, kinds[number % 3])) for number in range(60)]
    before = [model.score_page(one) for one in pages]
    after = [OnWordScale(model, scorer).score_page(one) for one in pages]
    limit = scorer.lower_limit
    assert {one.relevant for one in after} == {True, False}
    assert all(one.relevant == (one.relevance >= limit) for one in after)
    below = [(a.relevance, b.relevance) for a, b in zip(before, after, strict=True)]
    ordered = [b for _, b in sorted(below)]
    assert ordered == sorted(ordered)
    assert all(0.0 <= b <= 1.0 for b in ordered)


def test_wanted_page_is_not_subtracted_as_background() -> None:
    marks = make_marks(2, GAME, 1, wanted=True)
    assert derived_vector(marks, marks).terms


@pytest.mark.parametrize(("bias", "relevance"), [(1000.0, 1.0), (-1000.0, 0.0)])
def test_certain_verdicts_are_finite(bias: float, relevance: float) -> None:
    scorer = Scorer(TOPIC)
    model = OnWordScale(MarkedModel(scorer, Classifier({}, 0.0, bias, 0.0)), scorer)
    found = model.score_page(Page("http://a.test/", "", "football"))
    assert (found.relevance, found.article) == (relevance, 1.0)


@pytest.mark.parametrize(("on", "off"), [(0, 1), (2, 0)])
def test_classifier_needs_pages_of_both_kinds(on: int, off: int) -> None:
    sample = Sample(document({"goal": 1.0}), 0.1)
    with pytest.raises(ValueError, match="at least one page on topic and one other"):
        fit([sample] * on, [sample] * off, [], 0.05)
