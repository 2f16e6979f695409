"""Tests of the group commit: full groups, age limit, errors and cancellation."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import pytest
from typing_extensions import override

from tests.waiting import PATIENCE
from topiccrawl.errors import StorageError, StorageRefusedError
from topiccrawl.model import Article
from topiccrawl.storage.contract import Fate, Saved
from topiccrawl.storage.spooling import GroupCommit

if TYPE_CHECKING:
    from collections.abc import Sequence

LONG = 1000.0
"""An age that no test waits for."""


class Sink:
    """Substitute for ``Store.save`` that records the groups and can fail."""

    def __init__(self, *, fails: bool = False) -> None:
        self.groups: list[list[str]] = []
        self.fails = fails

    async def save(self, articles: Sequence[Article]) -> list[Saved]:
        self.groups.append([article.url for article in articles])
        await asyncio.sleep(0)
        if self.fails:
            raise StorageError("disk full")
        return [Saved(article.url, Fate.NEW, article.url) for article in articles]


def article(number: int) -> Article:
    return Article(f"http://a.test/{number}", "题", "文")


class Choosy(Sink):
    """Sink that refuses article 1."""

    @override
    async def save(self, articles: Sequence[Article]) -> list[Saved]:
        saved = await super().save(articles)
        if article(1) in articles:
            raise StorageRefusedError("too large")
        return saved


def test_each_caller_gets_the_result_of_its_own_article() -> None:
    async def scenario() -> None:
        sink = Sink()
        group = GroupCommit(sink.save, size=10, age=0.01)
        saved = await asyncio.gather(*(group.save(article(n)) for n in range(25)))
        assert [s.url for s in saved] == [article(n).url for n in range(25)]
        assert [len(g) for g in sink.groups] == [10, 10, 5]
        assert [url for g in sink.groups for url in g] == [article(n).url for n in range(25)]

    asyncio.run(scenario())


def test_full_group_is_saved_at_once() -> None:
    async def scenario() -> None:
        group = GroupCommit(Sink().save, size=3, age=LONG)
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*(group.save(article(n)) for n in range(3)))

    asyncio.run(scenario())


def test_single_article_is_saved_at_the_age_limit() -> None:
    async def scenario() -> None:
        group = GroupCommit(Sink().save, size=100, age=0.05)
        begin = time.monotonic()
        await group.save(article(1))
        assert time.monotonic() - begin >= 0.04

    asyncio.run(scenario())


def test_closing_saves_waiting_articles() -> None:
    async def scenario() -> None:
        sink = Sink()
        group = GroupCommit(sink.save, size=100, age=LONG)
        waiting = asyncio.create_task(group.save(article(1)))
        await asyncio.sleep(0)
        async with asyncio.timeout(PATIENCE):
            await group.close()
            assert (await waiting).url == article(1).url
            await group.close()
        assert sink.groups == [[article(1).url]]

    asyncio.run(scenario())


def test_failed_group_raises_a_separate_error_for_each_caller() -> None:
    async def scenario() -> None:
        sink = Sink(fails=True)
        group = GroupCommit(sink.save, size=2, age=LONG)
        first, second = await asyncio.gather(
            group.save(article(1)), group.save(article(2)), return_exceptions=True
        )
        assert isinstance(first, StorageError)
        assert isinstance(second, StorageError)
        assert first is not second
        assert str(first) == "disk full"
        sink.fails = False
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(group.save(article(3)), group.save(article(4)))

    asyncio.run(scenario())


def test_refused_article_does_not_fail_its_group() -> None:
    async def scenario() -> None:
        sink = Choosy()
        group = GroupCommit(sink.save, size=3, age=0.01)
        saves = (group.save(article(n)) for n in range(3))
        first, refused, last = await asyncio.gather(*saves, return_exceptions=True)
        assert isinstance(first, Saved)
        assert isinstance(last, Saved)
        assert str(refused) == "too large"
        with pytest.raises(StorageError, match="too large"):
            await group.save(article(1))
        assert [len(urls) for urls in sink.groups] == [3, 1, 1, 1, 1]  # not twice when alone

    asyncio.run(scenario())


def test_later_group_waits_for_articles_that_are_saved_alone() -> None:
    async def scenario() -> None:
        sink = Choosy()
        group = GroupCommit(sink.save, size=2, age=LONG)
        saves = (group.save(article(n)) for n in (1, 2, 2, 3))  # a part, then the whole article
        await asyncio.gather(*saves, return_exceptions=True)
        numbers = [[int(url[-1]) for url in urls] for urls in sink.groups]
        assert numbers == [[1, 2], [1], [2], [2, 3]]

    asyncio.run(scenario())


def test_cancelled_caller_does_not_cancel_the_group() -> None:
    async def scenario() -> None:
        group = GroupCommit(Sink().save, size=2, age=LONG)
        impatient = asyncio.create_task(group.save(article(1)))
        await asyncio.sleep(0)
        impatient.cancel()
        with pytest.raises(asyncio.CancelledError):
            await impatient
        async with asyncio.timeout(PATIENCE):
            assert (await group.save(article(2))).url == article(2).url

    asyncio.run(scenario())
