"""Tests of crawls for several topics."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from topiccrawl.errors import TopicError
from topiccrawl.model import Link, Page, Verdict
from topiccrawl.topics import pagekind
from topiccrawl.topics.fields import Budget, Thresholds
from topiccrawl.topics.multitopic import MultiScorer, merge_topics, parse_topics
from topiccrawl.topics.scorer import Scorer
from topiccrawl.topics.topic import Topic

if TYPE_CHECKING:
    from pathlib import Path

    from topiccrawl.topics.contract import RelevanceModel

BALL = Topic(name="球", terms={"足球": 1.0}, seeds=("http://a.test/",), must_not=("彩票",))
SPACE = Topic(
    name="航天", terms={"火箭": 1.0, "卫星": 1.0}, thresholds=Thresholds(lower_limit=0.2),
    allowed_hosts=("b.test",), exclude=("*.pdf",),
)  # fmt: skip


def page(text: str) -> Page:
    return Page("http://a.test/1", "", text, prose=text)


def test_headlines_of_a_page_are_counted_once_for_all_topics(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    anchors: list[str] = []

    def counted(anchor: str) -> int:
        anchors.append(anchor)
        return len(anchor)

    monkeypatch.setattr(pagekind, "is_headline", counted)
    links = tuple(Link(f"http://a.test/{n}", "国家队昨晚赢得友谊赛") for n in range(5))
    listing = page("足球队赢了比赛。" * 20)._replace(links=links)
    article = MultiScorer([BALL, SPACE]).score_page(listing).article
    assert len(anchors) == len(links)
    assert article == Scorer(BALL).score_page(listing).article < 1.0


def test_best_matching_topic_decides() -> None:
    both = MultiScorer([BALL, SPACE])
    for text, topic in (("足球队赢了比赛。" * 20, BALL), ("火箭把卫星送上天。" * 20, SPACE)):
        alone, found = Scorer(topic).score_page(page(text)), both.score_page(page(text))
        assert found.relevant
        assert found.terms == alone.terms
        assert found.relevance == pytest.approx(
            min(1.0, alone.relevance * both.lower_limit / Scorer(topic).lower_limit)
        )
        assert [one for one, seen in both.verdicts(page(text)) if seen.relevant] == [topic]
    assert not both.score_page(page("乐团昨晚演奏。" * 20)).relevant


def test_links_inherit_the_word_score_if_a_model_was_trained() -> None:
    class Learned:
        def score_page(self, page: Page) -> Verdict:
            return Verdict(0.9, relevant=True, by_words=Verdict(0.1, relevant=False))

    both = MultiScorer([BALL, SPACE])
    rocket = page("火箭把卫星送上天。" * 20)
    by_words = both.score_page(rocket)
    both.judges[0] = cast("RelevanceModel", Learned())
    found = both.score_page(rocket)
    assert found.for_links == by_words
    both.judges[1] = both.judges[0]
    scale = both.lower_limit / Scorer(SPACE).lower_limit
    found = both.score_page(rocket)
    assert found.relevance == pytest.approx(0.9 * max(1.0, scale))
    assert found.for_links.relevance == pytest.approx(0.1 * max(1.0, scale))


def test_each_topic_has_its_own_limit() -> None:
    text = "火箭发射的消息。" + "乐团昨晚在音乐厅演奏了两部交响曲，观众掌声不断。" * 8
    assert (
        Scorer(SPACE.model_copy(update={"thresholds": BALL.thresholds}))
        .score_page(page(text))
        .relevant
    )
    assert not MultiScorer([BALL, SPACE]).score_page(page(text)).relevant


def test_negative_term_affects_only_its_own_topic() -> None:
    text = "足球彩票与火箭卫星。" * 20
    found = MultiScorer([BALL, SPACE]).verdicts(page(text))
    assert [(topic.name, one.relevant) for topic, one in found] == [("球", False), ("航天", True)]


def test_link_score_is_that_of_the_best_topic() -> None:
    both = MultiScorer([BALL, SPACE])
    ball, space, none = both.score_many(["足球比赛", "卫星发射", "音乐会"])
    assert (ball > 0, space > 0, none) == (True, True, 0.0)
    assert both.contains("足球")
    assert not both.contains("音乐")


def test_url_is_allowed_if_one_topic_allows_and_none_denies() -> None:
    both = merge_topics([BALL, SPACE])
    assert both.name == "球, 航天"
    assert both.seeds == ("http://a.test/",)
    assert (both.allowed_hosts, both.exclude) == ((), ("*.pdf",))
    assert merge_topics([SPACE, SPACE.model_copy(update={"name": "x"})]).allowed_hosts == (
        "b.test",
    )


@pytest.mark.parametrize(
    ("pages", "largest"), [((None, None), None), ((5, 9), 9), ((5, None), 5), ((5, 0), 0)]
)
def test_largest_limit_of_the_topics_applies(
    pages: tuple[int | None, ...], largest: int | None
) -> None:
    topics = [BALL.model_copy(update={"limits": Budget(pages=most)}) for most in pages]
    assert merge_topics(topics).limits.pages == largest


def test_topic_without_a_limit_keeps_its_scores() -> None:
    free = BALL.model_copy(update={"thresholds": Thresholds(lower_limit=0)})
    read = page("足球队赢了比赛。" * 20)
    assert MultiScorer([free]).score_page(read).relevance == Scorer(free).score_page(read).relevance


def test_folder_stands_for_its_topic_files(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.toml").write_text('[terms]\n"足球" = 1\n', encoding="utf-8")
    assert [topic.name for topic in parse_topics(str(tmp_path))] == ["one", "two"]
    for text in ("足球, 航天", "足球，航天", "足球、航天", "足球；航天"):
        assert [topic.name for topic in parse_topics(text)] == ["足球", "航天"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (" , ", "names 0"),
        ("足球,足球", "occurs twice"),
        ("old.toml", "no such"),
        ("old/", "no folder 'old/'"),
    ],
)
def test_incompatible_topics_are_refused(text: str, message: str) -> None:
    with pytest.raises(TopicError, match=message):
        parse_topics(text)


def test_options_of_a_single_topic_are_refused(tmp_path: Path) -> None:
    for name, more in (("one", "retain_days = 3\n"), ("two", 'examples = ["https://a.test/"]\n')):
        file = tmp_path / f"{name}.toml"
        file.write_text(more + ('[terms]\n"足球" = 1\n' if name == "one" else ""), encoding="utf-8")
        with pytest.raises(TopicError, match="-a topic="):
            parse_topics(f"{file}")


@pytest.mark.parametrize("side", ["examples", "counterexamples"])
def test_example_urls_are_refused(tmp_path: Path, side: str) -> None:
    file = tmp_path / "one.toml"
    terms = '[terms]\n"足球" = 1\n'
    file.write_text(f'{side} = ["一段文字。", "https://a.test/1"]\n{terms}', encoding="utf-8")
    with pytest.raises(TopicError, match="'one' has URLs among its examples"):
        parse_topics(f"{file}, 航天")
    file.write_text(f'{side} = ["一段文字。"]\n{terms}', encoding="utf-8")
    assert [topic.name for topic in parse_topics(f"{file}, 航天")] == ["one", "航天"]
