"""Tests of scoring stored articles again."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.utils.test import get_crawler
from typing_extensions import override

from tests.contracts.articles import stored_in
from topiccrawl.addons.marks.extension import MarkedTopic
from topiccrawl.addons.marks.rescoring import Rescoring, rescore
from topiccrawl.model import LINKS, Article, Page, Verdict
from topiccrawl.storage.factory import articles_of, opened
from topiccrawl.topics.fields import Thresholds
from topiccrawl.topics.multitopic import MultiScorer
from topiccrawl.topics.scorer import Scorer
from topiccrawl.topics.topic import Topic

if TYPE_CHECKING:
    from collections.abc import Container
    from pathlib import Path

    from topiccrawl.topics.contract import Reasons

BALL = Topic(name="ball", terms={"goal": 1.0}, thresholds=Thresholds(lower_limit=0.2))
CITY = Topic(name="city", terms={"mayor": 1.0})


class Judge:
    """Judges by a word of the title."""

    def __init__(self, word: str = "goal", score: float = 0.9) -> None:
        self.word, self.score = word, score

    def score_page(self, page: Page) -> Verdict:
        score = self.score if self.word in page.title else 0.01
        return Verdict(score, score > 0.5, ((self.word, score),))

    def explain(self, page: Page) -> Reasons:
        return self.score_page(page).terms

    def signature(self) -> str:
        return "title"


def stored(number: int, title: str, **topics: float) -> Article:
    body = f"Report {number}. " + f"{title} and what followed, part {number}. " * 20
    return Article(
        url=f"http://a.test/{number}", title=title, body=body, final_url=f"http://a.test/{number}",
        topics=topics, terms=(("old", 0.2),), fetched_at=float(number), digest=str(number),
    )  # fmt: skip


def extension(
    folder: Path, scorer: Scorer | MultiScorer, judges: list[Any], *, links: bool = True
) -> MarkedTopic:
    crawler = get_crawler(settings_dict={"TOPICCRAWL_DATA_DIR": str(folder)})
    spider: Any = SimpleNamespace(scorer=scorer, judges=judges, strategy=None, judges_links=links)
    crawler.spider = spider
    return MarkedTopic.from_crawler(crawler)


def test_rescoring_changes_scores_only(tmp_path: Path) -> None:
    async def work() -> None:
        verdicts = extension(tmp_path, Scorer(BALL), [Judge()]).verdicts
        store = articles_of({"TOPICCRAWL_DATA_DIR": str(tmp_path)})
        await store.open()
        known = [
            stored(1, "A late goal", ball=0.2, city=0.4), stored(2, "Rain", ball=0.2),
            stored(3, "Another goal", city=0.3), stored(4, "Own goal", ball=0.9),
        ]  # fmt: skip
        await store.save(known)
        assert await rescore(store, "ball", verdicts, pause=0) == 2
        found = {a.url[-1]: a for a in await stored_in(store)}
        assert dict(found["1"].topics) == {"ball": 0.9, "city": 0.4}
        assert dict(found["2"].topics) == {"ball": 0.01}
        assert dict(found["3"].topics) == {"city": 0.3}
        assert found["1"].terms == (("goal", 0.9),)
        (for_city,) = [a for a in await stored_in(store, "city") if a.url[-1] == "1"]
        assert for_city.terms == (("old", 0.2),)
        assert [a.body for a in known] == [found[str(n)].body for n in (1, 2, 3, 4)]
        assert await store.versions("http://a.test/1") == []
        assert await rescore(store, "ball", verdicts, pause=0) == 0
        await store.close()

    asyncio.run(work())


@pytest.mark.parametrize("links", [True, False])
def test_link_score_of_another_topic_is_not_used(tmp_path: Path, *, links: bool) -> None:
    """The link score of the topic itself is used if its last crawl judged by links."""
    expected: set[float | None] = set()

    class RecordingJudge(Judge):
        @override
        def score_page(self, page: Page) -> Verdict:
            expected.add(page.expected)
            return super().score_page(page)

    async def work() -> None:
        marked = extension(tmp_path, Scorer(BALL), [RecordingJudge()], links=links)
        async with opened(articles_of({"TOPICCRAWL_DATA_DIR": str(tmp_path)})) as store:
            article = stored(1, "A late goal", ball=0.2)
            await store.save([replace(article, terms=(("goal", 0.2), (LINKS, 0.9)))])
            await store.save([replace(article, topics={"city": 0.6}, terms=((LINKS, 0.1),))])
            assert await rescore(store, "ball", marked.verdicts, pause=0) == 1

    asyncio.run(work())
    assert expected == {0.9 if links else None}


def test_topics_of_one_crawl_are_scored_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = MultiScorer([BALL, CITY])
    both.judges[:] = [Judge("goal", 1.0), Judge("mayor", 0.1)]
    known = stored(1, "The mayor's goal", ball=0.6, city=0.6, elsewhere=0.7)
    page = Page(known.url, known.title, known.body, prose=known.body)
    opening: list[None] = []

    def counted(settings: Any) -> Any:
        opening.append(None)
        return articles_of(settings)

    monkeypatch.setattr("topiccrawl.addons.marks.rescoring.articles_of", counted)

    async def work() -> None:
        marked = extension(tmp_path, both, both.judges)
        async with opened(articles_of({"TOPICCRAWL_DATA_DIR": str(tmp_path)})) as store:
            await store.save([known])
            marked.rescoring.begin("ball")
            marked.rescoring.begin("city")
            await marked.closed()
            story = await store.get(known.url)
            assert story is not None
            scores = {topic.name: verdict.relevance for topic, verdict in both.verdicts(page)}
            assert scores == {"ball": 0.25, "city": 0.1}
            assert dict(story.article.topics) == {**scores, "elsewhere": 0.7}
            (for_ball,) = await stored_in(store, "ball")
            assert for_ball.terms == both.score_page(page).terms == (("goal", 1.0),)

    asyncio.run(work())
    assert opening == [None]


def test_request_during_a_pass_starts_another_pass(tmp_path: Path) -> None:
    settings = {"TOPICCRAWL_DATA_DIR": str(tmp_path)}
    judged: list[str] = []

    def verdicts(page: Page, _: Container[str]) -> dict[str, Verdict]:
        judged.append(page.url)
        if len(judged) == 1:
            rescoring.begin("ball")
        return {"ball": Verdict(0.6 if len(judged) <= 4 else 0.8, relevant=True)}

    rescoring = Rescoring(settings, verdicts)

    async def work() -> None:
        async with opened(articles_of(settings)) as store:
            await store.save([stored(n, "A goal", ball=0.3) for n in (1, 2)])
            rescoring.begin("ball")
            await rescoring.close()
            assert [dict(a.topics) for a in await stored_in(store)] == [{"ball": 0.8}] * 2

    asyncio.run(work())
