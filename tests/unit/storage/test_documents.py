"""Documents by name in the embedded store: earlier versions, new kinds, use of indexes."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from topiccrawl.addons.records.periods.periods import SEEDS, Periods, Stage
from topiccrawl.addons.records.records import RECORDS, Records
from topiccrawl.storage import schema
from topiccrawl.storage.changes import ChangeLog
from topiccrawl.storage.database import FILE
from topiccrawl.storage.documents import Kind
from topiccrawl.storage.pages import PAGES, Pages
from topiccrawl.storage.sites import Sites
from topiccrawl.storage.sqlite import SqliteStorage

if TYPE_CHECKING:
    from pathlib import Path

    from topiccrawl.storage.documents import Documents

SEVEN = """
INSERT INTO pages VALUES
    ('足球', 'http://a.test/1', 'detail', 1, 2, 3, 0, 4, 0, 'e', '', 'd', .5, '', '{"a": [1]}');
INSERT INTO sites VALUES ('a.test', 'patterns', '["^/a/"]', 5.0);
INSERT INTO topic_changes VALUES
    ('足球', '/f', 1, 10.0, 'words', 'why', 20, '{"足球": 1.0}', '{"中超": 0.2}', 0.05, NULL),
    ('足球', '/f', 1, 10.0, 'words', 'why', 20, '{"足球": 1.0}', '{"中超": 0.2}', 0.05, NULL);
INSERT INTO topic_learnt VALUES ('足球', '/f', '{"n": 2}');
INSERT INTO template_periods VALUES ('甲', 1, 'finished', 1, 2, 1);
INSERT INTO template_seeds VALUES ('甲', 'http://s.test/', '题', 1, 1, 1, 'done', .5, 1, 1, '{}');
INSERT INTO records VALUES ('甲', 'e', '名', 'http://s.test/', 1, 1, .5, 1, 1, 2, 0,
    '{"template": "甲", "name": "名", "found": [], "urls": []}');
INSERT INTO record_versions VALUES
    ('甲', 'e', 1.5, '{"template": "甲", "name": "旧", "found": [], "urls": []}');
INSERT INTO forgotten_records VALUES ('甲', 'gone', 3.0);
"""
"""What a store of schema version 7 may have."""


def test_what_the_tables_of_version_seven_have_is_read(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as old:
        schema.migrate(old, "old", lambda: 1.0, schema.STEPS[:7])
        old.executescript(SEVEN)
    storage = SqliteStorage(tmp_path)

    async def read() -> None:
        async with Pages(storage) as pages:
            (page,) = await pages.due("足球", 9.0)
            assert (page.url, page.more, page.changed_at) == ("http://a.test/1", {"a": [1]}, 3.0)
        async with Sites(storage) as sites:
            assert await sites.get("a.test") == {"patterns": ["^/a/"]}
        async with Periods(storage) as periods:
            assert [one.title for one in await periods.select("甲", Stage.DONE, 9)] == ["题"]
        async with Records(storage) as records:
            kept = await records.get("甲", "e")
            assert kept is not None
            assert (kept.record.name, kept.seed) == ("名", "http://s.test/")
            assert [one.record.name for one in await records.versions("甲", "e")] == ["旧"]
            assert await records.allow("", ["gone"]) == 1

    asyncio.run(read())
    found = ChangeLog(storage).last("足球", "/f")
    assert found is not None
    assert (found[0].terms, found[1]) == ({"中超": 0.2}, {"n": 2})
    assert len(ChangeLog(storage).all()) == 1


def test_a_new_kind_gets_its_table_with_the_first_document(tmp_path: Path) -> None:
    kind = Kind("marks", ("user", "url", "tags"), key=2, nested=frozenset({"tags"}))
    one = {"user": "u", "url": "http://a.test/", "tags": ["good"]}

    def files() -> list[Path]:
        return list(tmp_path.iterdir())

    async def work(documents: Documents) -> None:
        await documents.open()
        assert await documents.find(kind, {}) == []
        assert files() == []
        await documents.put({kind: [one, {**one, "url": "http://b.test/"}]})
        assert await documents.get(kind, [("u", "http://a.test/"), ("v", "http://b.test/")]) == [
            one
        ]
        assert await documents.delete(kind, {"user": "v"}, {"url": "http://b.test/"}) == 1
        assert await documents.count(kind, {"user": "u"}) == 1
        await documents.close()

    asyncio.run(work(SqliteStorage(tmp_path).documents(kind)))


@pytest.mark.parametrize(
    ("kind", "condition"),
    [
        (PAGES, "owner = ? AND url IN (?, ?)"),
        (PAGES, "owner = ? AND due >= ? AND due < ? ORDER BY due, url LIMIT 9"),
        (PAGES, "owner = ? AND role = ? AND gone_at = ?"),
        (PAGES, "url = ?"),
        (SEEDS, "template = ? AND stage = ? ORDER BY number, url LIMIT 9"),
        (RECORDS, "template = ? AND seed = ?"),
        (RECORDS, "(first_seen, template, entity) > (?, ?, ?) ORDER BY first_seen, template"),
    ],
)  # fmt: skip
def test_queries_use_an_index(tmp_path: Path, kind: Kind, condition: str) -> None:
    async def make() -> None:
        documents = SqliteStorage(tmp_path).documents(kind)
        await documents.put({kind: [dict.fromkeys(kind.fields, "")]})
        await documents.close()

    asyncio.run(make())
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        query = f"EXPLAIN QUERY PLAN SELECT * FROM {kind.name} WHERE {condition}"  # noqa: S608
        plan = connection.execute(query, ("",) * condition.count("?")).fetchall()
    assert all(step[3].startswith(("SEARCH", "USE TEMP B-TREE FOR RIGHT")) for step in plan), plan
