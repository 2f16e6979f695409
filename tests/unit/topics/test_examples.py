"""Tests of topics with examples, and of words derived from marked pages."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from topiccrawl.model import Mark, Page
from topiccrawl.topics import Scorer
from topiccrawl.topics.marks import derived_vector, example_texts, example_urls
from topiccrawl.topics.topic import Topic

GAME = "goal keeper referee penalty striker midfield corner"
HALL = "violin orchestra conductor symphony audience piano"


def test_examples_are_split_into_urls_and_texts() -> None:
    topic = Topic(name="t", terms={}, examples=("http://A.test/x#y", GAME), counterexamples=(HALL,))
    assert list(example_urls(topic)) == [("http://a.test/x", True)]
    assert [(one.text, one.wanted) for one in example_texts(topic)] == [(GAME, True), (HALL, False)]
    assert len({one.url for one in example_texts(topic)}) == 2


def test_topic_needs_terms_or_examples() -> None:
    with pytest.raises(ValidationError, match="write words, or examples"):
        Topic(name="t", terms={}, counterexamples=(HALL,))


def test_words_are_derived_from_wanted_pages_only() -> None:
    marks = [Mark("a", "", GAME, wanted=True), Mark("b", "", f"{GAME} {HALL}", wanted=True),
             Mark("c", "", HALL, wanted=False)]  # fmt: skip
    found = dict(derived_vector(marks, ()).items())
    assert set(found) <= set(GAME.split())
    assert max(found.values()) == 1.0
    assert derived_vector(marks[2:], ()).terms == ()


def test_scorer_without_words_scores_zero_until_it_adopts_some() -> None:
    scorer = Scorer(Topic(name="t", terms={}, examples=(GAME,)))
    page = Page("http://a.test/", "", GAME, prose=GAME)
    assert scorer.score_page(page).relevance == 0.0
    assert scorer.score_many([GAME]) == [0.0]
    before = scorer.signature()
    scorer.adopt(derived_vector(example_texts(scorer.topic), ()))
    assert scorer.score_page(page).relevance > 0.3
    assert scorer.score_many([GAME])[0] > 0.3
    assert scorer.signature() != before
