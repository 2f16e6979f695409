"""Tests of documents of an earlier version in MongoDB, and of refused or unconfirmed writes."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pymongo", reason="the extra mongodb is not installed")
from pymongo import MongoClient

from tests.mongo_server import MongoServer, database_uri
from topiccrawl.addons.mongodb.client import Server
from topiccrawl.addons.mongodb.storage import MongoStorage
from topiccrawl.errors import StorageAwayError, StorageError, StorageRefusedError
from topiccrawl.messages import choose_language, localize
from topiccrawl.model import Article
from topiccrawl.storage.contract import Fate, Saved
from topiccrawl.storage.factory import closed_after
from topiccrawl.storage.pages import Pages, PageState, Role
from topiccrawl.storage.sites import Sites
from topiccrawl.storage.spooling import GroupCommit

if TYPE_CHECKING:
    from pathlib import Path

PAGE: dict[str, Any] = {
    "_id": "http://a.test/1 足球", "owner": "足球", "url": "http://a.test/1", "role": "detail",
    "first_seen": 1.0, "checked_at": 2.0, "changed_at": 0.0, "gone_at": 0.0, "due": 3.0,
    "misses": 0, "etag": "", "last_modified": "", "digest": "d", "relevance": 0.5, "found_on": "",
    "more": {"visits": {"memory": [0.5]}},
}  # fmt: skip


def test_document_of_an_earlier_version_is_read_and_replaced(
    mongo_uri: str, tmp_path: Path
) -> None:
    uri = database_uri(mongo_uri, tmp_path)
    with MongoClient[dict[str, Any]](uri) as client:
        collection = client[Server(uri).name]["pages"]
        collection.insert_one(dict(PAGE))

        async def check() -> PageState:
            async with Pages(MongoStorage(uri)) as pages:
                (old,) = await pages.due("足球", 9.0)
                await pages.save([replace(old, due=0.0)])
                return (await pages.get("足球", [old.url]))[old.url]

        found = asyncio.run(check())
        assert (found.due, found.more) == (0.0, PAGE["more"])
        assert collection.count_documents({}) == 1


def test_due_pages_have_an_index_with_all_fields_of_their_order(
    mongo_uri: str, tmp_path: Path
) -> None:
    uri = database_uri(mongo_uri, tmp_path)

    async def save() -> None:
        async with Pages(MongoStorage(uri)) as pages:
            await pages.save([PageState("足球", "http://a.test/1")])

    asyncio.run(save())
    with MongoClient[dict[str, Any]](uri) as client:
        known = client[Server(uri).name]["pages"].index_information().values()
    assert [("owner", 1), ("due", 1), ("url", 1)] in [list(one["key"]) for one in known]


def test_error_names_why_the_server_refuses_a_document(mongo_uri: str, tmp_path: Path) -> None:
    uri = database_uri(mongo_uri, tmp_path)
    with MongoClient[dict[str, Any]](uri) as client:
        client[Server(uri).name].create_collection("pages", validator={"role": "hub"})

        async def save() -> None:
            async with Pages(MongoStorage(uri)) as pages:
                await pages.save([PageState("足球", "http://a.test/1", Role.DETAIL, 1.0)])

        with pytest.raises(StorageError, match=r"failed validation; change the validator"):
            asyncio.run(save())


def test_collection_of_another_program_is_an_error_with_a_remedy(
    mongo_uri: str, tmp_path: Path
) -> None:
    uri = database_uri(mongo_uri, tmp_path)
    with MongoClient[dict[str, Any]](uri) as client:
        client[Server(uri).name]["articles"].insert_many([{"sku": 1}, {"sku": 2}])
    with pytest.raises(StorageError, match="another program uses the collection") as failed:
        asyncio.run(_save(uri))
    choose_language("zh")
    try:
        assert "无法打开存储" in localize(failed.value)
        assert "如果其他程序在用这个集合" in localize(failed.value)
    finally:
        choose_language("")


def test_articles_are_not_stored_before_the_write_concern_is_met(tmp_path: Path) -> None:
    mongo = MongoServer(tmp_path / "mongo")
    mongo.start("--enable-test-commands")
    article = Article("http://a.test/1", "车展", "车展")
    try:
        asyncio.run(_save(mongo.uri))
        late = {"code": 64, "errmsg": "replication timed out", "errInfo": {"wtimeout": True}}
        fault = {"failCommands": ["update"], "writeConcernError": late}
        with MongoClient[dict[str, Any]](mongo.uri) as client:
            client.admin.command("configureFailPoint", "failCommand", mode="alwaysOn", data=fault)
            with pytest.raises(StorageAwayError, match="replication timed out"):
                asyncio.run(_save(mongo.uri, article))
            twin = {"_id": "http://b.test/1", "digest": "one text", "number": 0}
            client[Server(mongo.uri).name]["articles"].insert_one(twin)  # by another node
            same = replace(article, url="http://c.test/1", digest="one text")
            with pytest.raises(StorageAwayError, match="replication timed out"):
                asyncio.run(_save(mongo.uri, same))
            client.admin.command("configureFailPoint", "failCommand", mode="off")
        (saved,) = asyncio.run(_save(mongo.uri, article))
        assert saved.fate is Fate.UNCHANGED
    finally:
        mongo.kill()


def test_article_that_the_server_refuses_does_not_fail_its_group(
    mongo_uri: str, tmp_path: Path
) -> None:
    uri = database_uri(mongo_uri, tmp_path)
    good, bad, last = (Article(f"http://a.test/{n}", f"题{n}", "文") for n in range(3))
    with MongoClient[dict[str, Any]](uri) as client:
        articles = client[Server(uri).name].create_collection(
            "articles", validator={"title": {"$ne": bad.title}}
        )

        async def save() -> list[Saved | BaseException]:
            async with closed_after(MongoStorage(uri).articles()) as store:
                await store.open()
                group = GroupCommit(store.save, size=3, age=1000.0)
                saves = map(group.save, (good, bad, last))
                return await asyncio.gather(*saves, return_exceptions=True)

        first, refused, third = asyncio.run(save())
        assert isinstance(refused, StorageError)
        assert "failed validation" in str(refused)
        # the failed group has stored both
        assert [first, third] == [Saved(one.url, Fate.NEW, one.url) for one in (good, last)]
        assert {one["_id"] for one in articles.find()} == {good.url, last.url}


def test_article_beyond_the_limit_of_the_driver_is_refused(mongo_uri: str, tmp_path: Path) -> None:
    article = Article("http://a.test/1", "题", "文", author="a" * 50_000_000)
    with pytest.raises(StorageRefusedError, match="too large"):
        asyncio.run(_save(database_uri(mongo_uri, tmp_path), article))


def test_article_whose_write_was_not_confirmed_is_new_when_it_is_saved_again(
    tmp_path: Path,
) -> None:
    mongo = MongoServer(tmp_path / "mongo")
    mongo.start("--enable-test-commands")
    late = {"code": 64, "errmsg": "replication timed out", "errInfo": {"wtimeout": True}}
    fault = {"failCommands": ["update"], "writeConcernError": late}
    article = Article("http://a.test/1", "车展", "车展")

    async def save() -> None:
        async with closed_after(MongoStorage(mongo.uri).articles()) as store:
            await store.open()
            fail = partial(client.admin.command, "configureFailPoint", "failCommand")
            fail(mode="alwaysOn", data=fault)
            with pytest.raises(StorageAwayError, match="replication timed out"):
                await store.save([article])
            fail(mode="off")
            fates = [(await store.save([article]))[0].fate for _ in range(2)]
            assert fates == [Fate.NEW, Fate.UNCHANGED]

    try:
        with MongoClient[dict[str, Any]](mongo.uri) as client:
            asyncio.run(save())
    finally:
        mongo.kill()


async def _save(uri: str, *articles: Article) -> list[Saved]:
    async with closed_after(MongoStorage(uri).articles()) as store:
        await store.open()
        return await store.save(articles)


def test_user_with_the_role_read_reads_and_is_refused_writes(tmp_path: Path) -> None:
    page = PageState("足球", "http://a.test/1", Role.DETAIL, 1.0)

    async def fill(uri: str) -> None:
        async with closed_after(MongoStorage(uri).articles()) as store:
            await store.open()
        async with Pages(MongoStorage(uri)) as pages:
            await pages.save([page])

    async def check(uri: str) -> None:
        async with closed_after(MongoStorage(uri).articles()) as store:
            await store.open()
            assert await store.get(page.url) is None
        async with Pages(MongoStorage(uri)) as pages, Sites(MongoStorage(uri)) as sites:
            assert list(await pages.get("足球", [page.url])) == [page.url]
            assert await sites.get("a.test") == {}  # its collection and indexes do not exist
            for write in (pages.save([page]), sites.put("a.test", {"a": 1})):
                with pytest.raises(StorageError, match="give the user the role readWrite"):
                    await write

    mongo = MongoServer(tmp_path / "mongo")
    mongo.start("--sync-on-commit")
    try:
        asyncio.run(fill(mongo.uri.replace("/?", "/news?")))
        with MongoClient[dict[str, Any]](mongo.uri) as client:
            user = {"createUser": "reader", "pwd": "secret", "roles": ["read"]}
            client["news"].command(user)
        mongo.kill()
        mongo.start("--auth")
        asyncio.run(check(mongo.uri.replace("//", "//reader:secret@").replace("/?", "/news?")))
    finally:
        mongo.kill()
