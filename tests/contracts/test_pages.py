"""Tests of states of watched pages and of article versions, over each storage."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from topiccrawl.model import Article
from topiccrawl.storage.pages import Pages, PageState, Role
from topiccrawl.text.digest import digest_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from topiccrawl.storage.contract import ArticleStore, Storage

TOPIC = "足球"
ONE = PageState(
    TOPIC,
    "http://a.test/1",
    first_seen=10.0,
    checked_at=20.0,
    due=30.0,
    etag='W/"1"',
    last_modified="Thu, 01 Jan 2026 00:00:00 GMT",
    digest="d1",
    relevance=0.5,
    found_on="http://a.test/",
    more={"visits": {"memory": [0.5], "名": None}},
)


def run(storage: Storage, work: Callable[[Pages, ArticleStore], Awaitable[None]]) -> None:
    async def run_opened() -> None:
        pages, store = Pages(storage), storage.articles()
        await pages.open()
        await store.open()
        try:
            await work(pages, store)
        finally:
            await pages.close()
            await store.close()
            await pages.close()

    asyncio.run(run_opened())


def state(number: int, **values: object) -> PageState:
    return replace(ONE, url=f"http://a.test/{number}", **values)  # type: ignore[arg-type]


def test_states_are_read_back_by_owner(storage: Storage) -> None:
    other = replace(ONE, owner="汽车", role=Role.HUB, more={})

    async def work(pages: Pages, store: ArticleStore) -> None:
        await pages.save([])
        await pages.save([ONE, other])
        await pages.save([ONE])
        assert await pages.get(TOPIC, [ONE.url, "http://b.test/"]) == {ONE.url: ONE}
        assert await pages.get("汽车", [ONE.url]) == {ONE.url: other}
        later = replace(ONE, checked_at=21.0, more={})
        await pages.save([replace(ONE, misses=1), later])
        assert await pages.get(TOPIC, [ONE.url]) == {ONE.url: later}
        assert len(await pages.get(TOPIC, [f"http://n.test/{n}" for n in range(1200)])) == 0

    run(storage, work)


def test_due_pages_are_ordered_by_time(storage: Storage) -> None:
    async def work(pages: Pages, store: ArticleStore) -> None:
        states = [state(n, due=due) for n, due in enumerate((50.0, 0.0, 40.0, 60.0, 45.0))]
        await pages.save([*states, replace(ONE, owner="汽车", due=1.0)])
        due = await pages.due(TOPIC, 50.0)
        assert [one.due for one in due] == [40.0, 45.0, 50.0]
        assert [one.due for one in await pages.due(TOPIC, 100.0, limit=1, after=50.0)] == [60.0]

    run(storage, work)


def test_all_due_pages_are_read_also_those_of_one_time(storage: Storage) -> None:
    async def work(pages: Pages, store: ArticleStore) -> None:
        await pages.save([state(n, due=50.0 + n // 5) for n in range(7)])
        parts = [part async for part in pages.all_due(TOPIC, 51.0, 2)]
        assert [len(part) for part in parts] == [2, 2, 2, 1]
        assert {one.url for part in parts for one in part} == {state(n).url for n in range(7)}
        assert [len(part) async for part in pages.all_due(TOPIC, 51.0, 9, after=50.0)] == [2]

    run(storage, work)


def test_changes_lists_new_changed_and_gone_pages_of_a_window(storage: Storage) -> None:
    async def work(pages: Pages, store: ArticleStore) -> None:
        await pages.save(
            [
                state(1, first_seen=10.0),
                state(2, first_seen=100.0),
                state(3, first_seen=10.0, changed_at=110.0),
                state(4, first_seen=105.0, changed_at=110.0),
                state(5, first_seen=10.0, changed_at=90.0),
                state(6, first_seen=10.0, changed_at=105.0, gone_at=120.0),
                state(7, first_seen=105.0, gone_at=115.0),
                state(8, first_seen=10.0, gone_at=90.0),
                state(9, first_seen=120.0, role=Role.HUB),
            ]
        )
        found = [(one.event, one.url[-1]) for one in await pages.changes(TOPIC, 100.0)]
        assert found == [
            ("new", "2"), ("new", "4"), ("changed", "3"), ("gone", "7"), ("gone", "6"),
        ]  # fmt: skip
        assert await pages.counts(TOPIC) == {"hubs": 1, "details": 5, "gone": 3}
        assert [one.event for one in await pages.changes(TOPIC, 100.0, 110.0)] == ["new"] * 2
        every = Counter(one.event for one in await pages.changes(TOPIC, 0.0))
        assert every == {"new": 5, "gone": 3}

    run(storage, work)


def article(number: int, text: str, at: float) -> Article:
    url = f"http://sub.a.test/{number}"
    body = f"第{number}场比赛昨晚在体育中心结束，{text}，球迷在场外庆祝到深夜，明天还有一场。"
    return Article(url, "题", body, digest=digest_of(body), fetched_at=at, site="sub.a.test")


def test_a_changed_article_keeps_its_old_texts(storage: Storage) -> None:
    async def work(pages: Pages, store: ArticleStore) -> None:
        texts = [(1.0, "主队获胜"), (2.0, "主队获胜"), (3.0, "客队获胜"), (4.0, "打成平局")]
        for at, text in texts:
            await store.save([article(1, text, at), article(2, "主队获胜", at)])
        versions = await store.versions(article(1, "", 0).url)
        found = [(v.body, v.fetched_at, v.replaced_at) for v in versions]
        first, second = article(1, "主队获胜", 2.0).body, article(1, "客队获胜", 3.0).body
        assert found == [(first, 2.0, 3.0), (second, 3.0, 4.0)]
        assert await store.versions(article(2, "", 0).url) == []

    run(storage, work)


def test_parts_of_one_fetch_create_no_version(storage: Storage) -> None:
    async def work(pages: Pages, store: ArticleStore) -> None:
        await store.save([article(1, "上半场", 1.0)])
        await store.save([article(1, "上半场和下半场", 1.0)])
        assert await store.versions(article(1, "", 0).url) == []

    run(storage, work)


def test_forgetting_removes_states_and_versions(storage: Storage) -> None:
    hosts = ("a.test", "sub.a.test", "sub.a.test:8080", "nota.test", "b.test")

    async def work(pages: Pages, store: ArticleStore) -> None:
        urls = [f"http://{host}/x?y=a.test" for host in hosts]
        await pages.save([replace(ONE, url=url) for url in urls])
        for at, text in ((1.0, "主队获胜"), (2.0, "客队获胜")):
            await store.save([article(1, text, at)])
        names = ["site:a.test", urls[4]]
        await store.forget(names, 9.0)
        assert await pages.forget(names) == 4
        assert list(await pages.get(TOPIC, urls)) == [urls[3]]
        assert await store.versions(article(1, "", 0).url) == []

    run(storage, work)
