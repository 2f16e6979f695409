from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import override

from topiccrawl.addons.adaptation.learner import MAX_LINK_CHARS, LearntLinks, scorers
from topiccrawl.text.tokens import Tokenizer
from topiccrawl.topics import Scorer
from topiccrawl.topics.contract import TopicUpdate
from topiccrawl.topics.topic import Topic
from topiccrawl.topics.vector import TopicVector

if TYPE_CHECKING:
    from collections.abc import Sequence

OWN = Scorer(Topic(name="足球", terms={"足球": 1.0}))
LEARNT = {"中超": 0.2, "striker": 0.2, "广告": -0.2}
TEXTS = ["足球新闻", "中超 球迷", "Strikers", "广告招商", "中超广告", "", "天气预报", "中超\n英超"]


class Cutter(Tokenizer):
    """Counts the texts that it is asked to cut."""

    asked = 0

    @override
    def cut_all(self, lines: Sequence[str]) -> list[list[str]]:
        self.asked += len(lines)
        return super().cut_all(lines)


@pytest.fixture(name="links")
def _links() -> LearntLinks:
    return LearntLinks(OWN, LEARNT, 0.2)


def test_learnt_words_lift_a_link_and_words_that_speak_against_it_take_nothing_away(
    links: LearntLinks,
) -> None:
    own, scores = OWN.score_many(TEXTS), links.score_many(TEXTS)
    gains = [round(after - before, 3) for before, after in zip(own, scores, strict=True)]
    assert gains[1] > 0.05
    assert gains[2] > 0.1
    assert gains[0] == gains[3] == gains[5] == gains[6] == 0
    assert 0 <= gains[4] < gains[1]
    assert gains[7] > 0.05


@given(st.lists(st.text("足球中超广告 striker新闻x\n", max_size=80), max_size=8))
def test_a_score_is_the_users_own_and_at_most_the_gain_more(texts: list[str]) -> None:
    links = LearntLinks(OWN, LEARNT, 0.2)
    for own, score in zip(OWN.score_many(texts), links.score_many(texts), strict=True):
        assert own <= score <= min(1.0, own + 0.2)


@given(st.lists(st.sampled_from(TEXTS), max_size=8))
def test_a_text_has_its_score_in_whatever_company(texts: list[str]) -> None:
    links = LearntLinks(OWN, LEARNT, 0.2)
    alone = [links.score_many([text])[0] for text in texts]
    assert links.score_many(texts) == pytest.approx(alone)


def test_a_text_that_stands_on_every_page_is_cut_once() -> None:
    cutter = Cutter("rjieba")
    links = LearntLinks(Scorer(OWN.topic, cutter), LEARNT, 0.2)
    once = links.score_many(TEXTS)
    asked = cutter.asked
    assert asked
    assert links.score_many(TEXTS[::-1]) == once[::-1]
    assert cutter.asked == asked


def test_link_texts_that_the_strategy_knows_are_not_cut_again_after_a_change() -> None:
    cutter = Cutter("rjieba")
    cutter.word_sets(TEXTS)
    scorer = Scorer(OWN.topic, cutter)
    scorer.score_many(TEXTS)
    asked = cutter.asked
    for gain in (0.1, 0.2):
        assert LearntLinks(scorer, LEARNT, gain).score_many(["中超 球迷"])[0] > 0
    assert cutter.asked == asked


def test_long_texts_are_left_to_the_users_terms(links: LearntLinks) -> None:
    text = "中超" * MAX_LINK_CHARS
    assert links.score_many([text]) == OWN.score_many([text])


def test_words_change_the_links_alone_and_the_genetic_vector_changes_both() -> None:
    vector = TopicVector.of({"足球": 1.0, "中超": 0.2})
    pages, links = scorers(TopicUpdate("words", vector, "", 1), OWN, 0.2)
    assert pages is OWN
    assert links.score_many(["中超"])[0] > 0
    pages, links = scorers(TopicUpdate("genetic", vector, "", 1, 0.07), OWN, 0.2)
    assert pages is links
    assert pages.score_text("中超").relevance > 0
    assert pages.lower_limit == 0.07
    assert OWN.score_text("中超").relevance == 0


def test_keywords_stay_the_users(links: LearntLinks) -> None:
    assert links.contains("足球")
    assert not links.contains("中超")
