"""Tests of selections, removal and expiry of articles, over each store."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.contracts.articles import article, counts_of, run
from tests.mongo_server import database_uri
from topiccrawl.addons.mongodb.store import MongoStore
from topiccrawl.storage.contract import Fate
from topiccrawl.storage.selection import Selection, words_in
from topiccrawl.storage.sqlite import SqliteStore

if TYPE_CHECKING:
    from pathlib import Path

    from tests.contracts.conftest import Factory
    from topiccrawl.storage.contract import ArticleStore


async def urls(store: ArticleStore, selection: Selection) -> list[str]:
    return [found.url async for found in store.select(selection)]


def test_selections_name_topic_site_days_and_words(factory: Factory, tmp_path: Path) -> None:
    made = [
        replace(article(1, topic="甲"), published="2020-01-31T23:59:00+08:00", title="电动汽车"),
        replace(
            article(2, topic="乙"), published="2020-02-01", site="news.site1.test", title="Ｋ線"
        ),
        replace(article(3, topic="甲"), published="", site="notsite1.test", title="汽车展"),
    ]
    expected = {
        Selection(): [3, 2, 1],
        Selection(topic="甲"): [3, 1],
        Selection(site="site1.test"): [2, 1],
        Selection(since="2020-02-01"): [2],
        Selection(until="2020-01-31"): [1],
        Selection(since="2020-01-31", until="2020-02-01", topic="甲"): [1],
        Selection(words=words_in("汽车")): [3, 1],
        Selection(words=words_in("汽车 电动")): [1],
        Selection(words=words_in("飞机")): [],
        Selection(words=words_in("展")): [3],
        Selection(words=words_in("“展”。")): [3],
        Selection(words=words_in("車 电动")): [1],
        Selection(words=words_in("K线")): [2],
    }

    async def check(store: ArticleStore) -> None:
        await store.save(made)
        for selection, numbers in expected.items():
            assert await urls(store, selection) == [article(n).url for n in numbers], selection
        await store.save([replace(made[0], title="飞机")])
        assert await urls(store, Selection(words=words_in("飞机"))) == [made[0].url]
        assert await urls(store, Selection(words=words_in("电动"))) == []

    run(factory(tmp_path), check)


def test_selections_by_time_of_storage_have_late_articles_and_added_topics(
    factory: Factory, tmp_path: Path
) -> None:
    async def check(store: ArticleStore) -> None:
        await store.save([article(n) for n in range(4)])
        await asyncio.sleep(0.01)
        since = time.time()
        assert await urls(store, Selection(stored_since=since)) == []
        # fetched long ago; a reprint that adds a topic, one that adds none, and a new fetch
        made = [article(5), article(6, text=1, topic="乙"), article(7, text=2), article(3)]
        await store.save(made)
        stored = [article(n).url for n in (5, 3, 1)]
        assert await urls(store, Selection(stored_since=since)) == stored
        assert await urls(store, Selection("乙", stored_since=since)) == [article(1).url]
        assert await urls(store, Selection(stored_since=article(0).fetched_at)) == [
            article(n).url for n in (5, 3, 2, 1, 0)
        ]

    run(factory(tmp_path), check)


def test_articles_without_a_time_of_storage_are_selected_by_their_fetch(
    mongo_uri: str, tmp_path: Path
) -> None:
    sqlite, mongo = SqliteStore(tmp_path), MongoStore(database_uri(mongo_uri, tmp_path))
    made = [replace(article(n), fetched_at=float(n + 1)) for n in range(3)]

    async def check(store: ArticleStore) -> None:
        await store.save(made)
        if isinstance(store, MongoStore):  # as earlier versions store them
            await store.server.articles.update_many({}, {"$unset": {"stored_at": ""}})
        else:  # as they are migrated
            await sqlite._database.write(lambda c: c.execute("UPDATE articles SET stored_at = 0"))
        assert await urls(store, Selection(stored_since=2.0)) == [made[2].url, made[1].url]

    run(sqlite, check)
    run(mongo, check)


@pytest.mark.parametrize("site", ["a_b.test", "%", "a%"])
def test_site_of_a_selection_is_no_pattern(factory: Factory, tmp_path: Path, site: str) -> None:
    async def check(store: ArticleStore) -> None:
        sites = ("a_b.test", "news.a_b.test", "news.axb.test", "a.test")
        made = [replace(article(n), site=name) for n, name in enumerate(sites)]
        await store.save(made)
        meant = [one.url for one in made if one.site.endswith(site)][::-1]
        assert await urls(store, Selection(site=site)) == meant
        assert await store.forget([f"site:{site}"], now=1.0) == len(meant)

    run(factory(tmp_path), check)


def test_forgotten_article_is_deleted_and_not_stored_again(
    factory: Factory, tmp_path: Path
) -> None:
    async def check(store: ArticleStore) -> None:
        other = factory(tmp_path)
        await other.open()
        await store.save([article(n) for n in range(4)])
        await other.save([article(9, text=1)])  # a reprint of the first article to be forgotten
        assert await store.forget([article(1).url, "site:site2.test"], now=1.0) == 2
        for node in (store, other):
            again = await node.save([article(1), article(2), replace(article(2), url="http://x")])
            assert [saved.fate for saved in again] == [Fate.FORGOTTEN] * 3
        assert await urls(store, Selection()) == [article(3).url, article(0).url]
        assert await store.get(article(1).url) is None
        assert await store.get(article(9).url) is None
        assert (await counts_of(store))["reprints"] == 0
        assert await urls(store, Selection(words=words_in("体育中心"))) != []
        await store.forget([article(3).url], now=1.0)  # the newest
        newest = replace(article(7), title="航天飞机")
        await store.save([newest])
        assert await urls(store, Selection(words=words_in("飞机"))) == [newest.url]
        (fresh,) = await other.save([article(5, text=1)])
        assert fresh.fate is Fate.NEW  # its text is no longer compared
        assert await store.forget([article(1).url], now=2.0) == 0
        await other.close()

    run(factory(tmp_path), check)


def test_articles_of_a_topic_expire_unless_another_topic_wants_them(
    factory: Factory, tmp_path: Path
) -> None:
    async def check(store: ArticleStore) -> None:
        made = [replace(article(n, topic="甲"), fetched_at=float(n)) for n in range(4)]
        await store.save([*made, replace(article(0, topic="乙"), fetched_at=0.0)])
        assert await store.expire("甲", before=2.0) == 2
        assert await urls(store, Selection(topic="甲")) == [article(3).url, article(2).url]
        assert await urls(store, Selection(topic="乙")) == [article(0).url]
        assert (await counts_of(store))["articles"] == 3
        assert (await store.save([made[1]]))[0].fate is Fate.NEW

    run(factory(tmp_path), check)
