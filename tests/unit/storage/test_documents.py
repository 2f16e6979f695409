"""Tests of named documents in the embedded store: earlier versions, new kinds, indexes."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING

from topiccrawl.addons.records.periods.periods import Period, Periods, Stage
from topiccrawl.addons.records.records import Records
from topiccrawl.storage import schema
from topiccrawl.storage.changes import ChangeLog
from topiccrawl.storage.database import BUSY_SECONDS, FILE
from topiccrawl.storage.documents import DocumentKind
from topiccrawl.storage.pages import Pages, PageState
from topiccrawl.storage.sites import Sites
from topiccrawl.storage.sqlite import SqliteStorage
from topiccrawl.storage.sqlite_documents import SqliteDocuments

if TYPE_CHECKING:
    from pathlib import Path

    from topiccrawl.storage.documents import Documents

SEVEN = """
CREATE TABLE sites (
    site TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, changed_at REAL NOT NULL,
    PRIMARY KEY (site, key)
) WITHOUT ROWID;
CREATE TABLE topic_learnt (
    topic TEXT NOT NULL, frontier TEXT NOT NULL, state TEXT NOT NULL,
    PRIMARY KEY (topic, frontier)
) WITHOUT ROWID;
CREATE TABLE pages (
    owner TEXT NOT NULL, url TEXT NOT NULL, role TEXT NOT NULL, first_seen REAL NOT NULL,
    checked_at REAL NOT NULL, changed_at REAL NOT NULL, gone_at REAL NOT NULL,
    due REAL NOT NULL, misses INTEGER NOT NULL, etag TEXT NOT NULL,
    last_modified TEXT NOT NULL, digest TEXT NOT NULL, relevance REAL NOT NULL,
    found_on TEXT NOT NULL, more TEXT NOT NULL, PRIMARY KEY (owner, url)
) WITHOUT ROWID;
CREATE TABLE template_periods (
    template TEXT NOT NULL, number INTEGER NOT NULL, phase TEXT NOT NULL,
    started REAL NOT NULL, finished REAL NOT NULL, total INTEGER NOT NULL,
    PRIMARY KEY (template, number)
) WITHOUT ROWID;
CREATE TABLE template_seeds (
    template TEXT NOT NULL, url TEXT NOT NULL, title TEXT NOT NULL, rank INTEGER NOT NULL,
    number INTEGER NOT NULL, period INTEGER NOT NULL, stage TEXT NOT NULL,
    chance REAL NOT NULL, useful INTEGER NOT NULL, crawled INTEGER NOT NULL,
    visits TEXT NOT NULL, PRIMARY KEY (template, url)
);
CREATE TABLE records (
    template TEXT NOT NULL, entity TEXT NOT NULL, name TEXT NOT NULL, seed TEXT NOT NULL,
    number INTEGER NOT NULL, period INTEGER NOT NULL, confidence REAL NOT NULL,
    first_seen REAL NOT NULL, changed_at REAL NOT NULL, checked_at REAL NOT NULL,
    gone_at REAL NOT NULL, record TEXT NOT NULL, PRIMARY KEY (template, entity)
);
CREATE TABLE record_versions (
    template TEXT NOT NULL, entity TEXT NOT NULL, until REAL NOT NULL, record TEXT NOT NULL,
    PRIMARY KEY (template, entity, until)
);
CREATE TABLE forgotten_records (
    template TEXT NOT NULL, entity TEXT NOT NULL, at REAL NOT NULL,
    PRIMARY KEY (template, entity)
) WITHOUT ROWID;
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
"""Documents of a store of schema version 7, which created their tables."""


def test_tables_of_version_seven_are_read(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as old:
        schema.migrate(old, "old", schema.STEPS[:7])
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


def test_first_document_of_a_new_kind_creates_its_table(tmp_path: Path) -> None:
    kind = DocumentKind("marks", ("user", "url", "tags"), key=2, nested=frozenset({"tags"}))
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


def test_documents_of_a_new_kind_are_read_while_another_process_writes(tmp_path: Path) -> None:
    kind = DocumentKind("marks", ("user", "url"), key=2)

    async def read() -> None:
        documents = SqliteStorage(tmp_path).documents(kind)
        await documents.open()
        assert await documents.get(kind, [("u", "http://a.test/")]) == []
        assert await documents.find(kind, {"user": "u"}) == []
        assert await documents.count(kind, {}) == 0
        await documents.close()

    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = WAL")
        schema.migrate(other, FILE)
        other.execute("BEGIN IMMEDIATE")
        began = time.monotonic()
        asyncio.run(read())
        assert time.monotonic() - began < BUSY_SECONDS / 2
        other.execute("ROLLBACK")
        asyncio.run(read())
        assert other.execute("SELECT count(*) FROM marks").fetchone() == (0,)


async def calls(pages: Pages, periods: Periods, records: Records) -> None:
    """Queries of crawls and commands."""
    await pages.get("足球", ["http://a.test/1", "http://a.test/2"])
    await pages.due("足球", 9.0, 10, 1.0)
    assert len([one async for one in pages.all_due("足球", 9.0, 1)]) == 2
    await pages.counts("足球")
    await pages.changes("足球", 1.0)
    await pages.forget(["http://a.test/1"])
    await periods.last("甲")
    await periods.get("甲", ["http://s.test/"])
    await periods.select("甲", Stage.OPEN, 9, period=2)
    await periods.outcomes("甲", 1)
    await records.get("甲", "e")
    await records.versions("甲", "e")
    await records.of_seed("甲", "http://s.test/")
    await records.forget("甲", ["e"])
    await records.count_changes("甲", 1.0)
    assert [one async for one in records.select("甲")] == []


def test_queries_use_an_index(tmp_path: Path) -> None:
    storage, seen = SqliteStorage(tmp_path), list[str]()

    async def work() -> None:
        async with (
            Pages(storage) as pages,
            Periods(storage) as periods,
            Records(storage) as records,
        ):
            states = [PageState("足球", f"http://a.test/{n}", due=float(n)) for n in (1, 2)]
            await pages.save(states)
            await periods.put(Period("甲", 1))
            for part in (pages, periods, records):
                documents = part._documents
                assert isinstance(documents, SqliteDocuments)
                await documents.open()
                await documents._database.read(lambda c: c.set_trace_callback(seen.append))
            await calls(pages, periods, records)

    asyncio.run(work())
    queries = [one.replace("Inf", "9e999") for one in seen if one.startswith(("SELECT", "DELETE"))]
    assert len(queries) > 20
    assert any("due >= 1.0 AND due < 9.0 AND (due, url) > (1.0," in query for query in queries)
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        for query in queries:
            plan = [step[3] for step in connection.execute(f"EXPLAIN QUERY PLAN {query}")]
            in_order = "records_first_seen_template_entity"  # of all records
            assert plan[0].startswith("SEARCH") or in_order in plan[0], (query, plan)
