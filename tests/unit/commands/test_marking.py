"""Test of marking an article by command."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from scrapy.settings import Settings

from topiccrawl.commands.marking import mark
from topiccrawl.messages import choose_language
from topiccrawl.model import LINKS, Article
from topiccrawl.storage.factory import articles_of, opened
from topiccrawl.storage.sites import MarkStore
from topiccrawl.topics.topic import Topic

if TYPE_CHECKING:
    from pathlib import Path

URL = "http://a.test/1"


@pytest.mark.parametrize(("score", "expected"), [(0.9, 0.8), (0.1, None)])
def test_mark_has_the_link_score_of_its_own_topic(
    tmp_path: Path, score: float, expected: float | None
) -> None:
    """The store returns the terms of the topic with the best score."""
    settings = Settings({"TOPICCRAWL_DATA_DIR": str(tmp_path)})
    ball = Topic(name="ball", terms={"goal": 1.0})

    def stored(topic: str, score: float, links: float) -> Article:
        return Article(URL, "A goal", "text", topics={topic: score}, terms=((LINKS, links),))

    async def marked() -> float | None:
        async with opened(articles_of(settings)) as store:
            await store.save([stored("ball", score, 0.8)])
            await store.save([stored("city", 0.5, 0.3)])
        await mark(settings, ball, "", URL, "yes")
        async with MarkStore.opened(settings, "ball") as store:
            (found,) = await store.marks()
        return found.expected

    assert asyncio.run(marked()) == expected


def test_mark_is_confirmed_in_the_chosen_language(tmp_path: Path) -> None:
    settings = Settings({"TOPICCRAWL_DATA_DIR": str(tmp_path)})
    ball = Topic(name="ball", terms={"goal": 1.0})

    async def confirmed() -> str:
        async with opened(articles_of(settings)) as store:
            await store.save([Article(URL, "A goal", "text")])
        return await mark(settings, ball, "", URL, "yes")

    choose_language("zh")
    try:
        assert asyncio.run(confirmed()) == "ball：标为 yes 的网页 1 个，no 的 0 个 · A goal"
    finally:
        choose_language("")
