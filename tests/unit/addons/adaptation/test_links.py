"""Tests of link scoring with learnt terms."""

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


class CountingTokenizer(Tokenizer):
    """Count the tokenized texts."""

    calls = 0

    @override
    def cut_all(self, lines: Sequence[str]) -> list[list[str]]:
        self.calls += len(lines)
        return super().cut_all(lines)


@pytest.fixture(name="links")
def _links() -> LearntLinks:
    return LearntLinks(OWN, LEARNT, 0.2)


def test_learnt_words_raise_link_scores_and_never_lower_them(
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
def test_learnt_score_exceeds_own_score_by_at_most_the_gain(texts: list[str]) -> None:
    links = LearntLinks(OWN, LEARNT, 0.2)
    for own, score in zip(OWN.score_many(texts), links.score_many(texts), strict=True):
        assert own <= score <= min(1.0, own + 0.2)


@given(st.lists(st.sampled_from(TEXTS), max_size=8))
def test_score_is_independent_of_other_texts(texts: list[str]) -> None:
    links = LearntLinks(OWN, LEARNT, 0.2)
    alone = [links.score_many([text])[0] for text in texts]
    assert links.score_many(texts) == pytest.approx(alone)


def test_repeated_link_text_is_tokenized_once() -> None:
    tokenizer = CountingTokenizer("rjieba")
    links = LearntLinks(Scorer(OWN.topic, tokenizer), LEARNT, 0.2)
    once = links.score_many(TEXTS)
    calls = tokenizer.calls
    assert calls
    assert links.score_many(TEXTS[::-1]) == once[::-1]
    assert tokenizer.calls == calls


def test_cached_link_texts_are_not_tokenized_after_a_change() -> None:
    tokenizer = CountingTokenizer("rjieba")
    tokenizer.word_sets(TEXTS)
    scorer = Scorer(OWN.topic, tokenizer)
    scorer.score_many(TEXTS)
    calls = tokenizer.calls
    for gain in (0.1, 0.2):
        assert LearntLinks(scorer, LEARNT, gain).score_many(["中超 球迷"])[0] > 0
    assert tokenizer.calls == calls


def test_long_texts_are_scored_by_the_users_terms_only(links: LearntLinks) -> None:
    text = "中超" * MAX_LINK_CHARS
    assert links.score_many([text]) == OWN.score_many([text])


def test_words_change_link_scores_and_genetic_changes_both() -> None:
    vector = TopicVector.of({"足球": 1.0, "中超": 0.2})
    pages, links = scorers(TopicUpdate("words", vector, "", 1), OWN, 0.2)
    assert pages is OWN
    assert links.score_many(["中超"])[0] > 0
    pages, links = scorers(TopicUpdate("genetic", vector, "", 1, 0.07), OWN, 0.2)
    assert pages is links
    assert pages.score_text("中超").relevance > 0
    assert pages.lower_limit == 0.07
    assert OWN.score_text("中超").relevance == 0


def test_keywords_are_the_users_terms(links: LearntLinks) -> None:
    assert links.contains("足球")
    assert not links.contains("中超")
