"""Tests of the SQLite database: versions, migrations, errors and locks."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.users import ordinary_user
from topiccrawl.errors import StateError, StateVersionError, StorageAwayError, StorageError
from topiccrawl.model import Article
from topiccrawl.storage import database as database_module
from topiccrawl.storage import rows, schema
from topiccrawl.storage.database import FILE, Database
from topiccrawl.storage.selection import Selection, words_in
from topiccrawl.storage.sqlite import SqliteStore
from topiccrawl.storage.version import written_by


def opened(path: Path) -> Database:
    database = Database(path)
    database.open()
    return database


def count(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT count(*) FROM tombstones").fetchone()[0])


def add(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT INTO tombstones VALUES ('a.test', 0)")


def test_new_file_has_its_version_and_time_of_migration(tmp_path: Path) -> None:
    before = time.time()
    database = opened(tmp_path / "deep" / FILE)
    rows = database.call(lambda c: c.execute("SELECT * FROM migrations").fetchall())
    database.close()
    assert [row[0] for row in rows] == [n + 1 for n in range(len(schema.STEPS))]
    assert all(before <= row[2] <= time.time() for row in rows)


def test_settings_make_commits_durable(tmp_path: Path) -> None:
    database = opened(tmp_path / FILE)
    mode = database.call(lambda c: c.execute("PRAGMA journal_mode").fetchone()[0])
    level = database.call(lambda c: c.execute("PRAGMA synchronous").fetchone()[0])
    database.close()
    assert (mode, level) == ("wal", 2)


def test_newer_version_is_refused_with_a_remedy(tmp_path: Path) -> None:
    opened(tmp_path / FILE).close()
    with sqlite3.connect(tmp_path / FILE) as connection:
        connection.execute(f"PRAGMA user_version = {len(schema.STEPS) + 1}")
    connection.close()
    with pytest.raises(StateVersionError, match=r"store\.sqlite: schema version .*update"):
        opened(tmp_path / FILE)


def test_older_version_is_migrated_and_keeps_its_rows(tmp_path: Path) -> None:
    database = opened(tmp_path / FILE)
    database.call(add)
    database.close()
    steps = (*schema.STEPS, "ALTER TABLE tombstones ADD COLUMN note TEXT NOT NULL DEFAULT 'old';")
    connection = sqlite3.connect(tmp_path / FILE, isolation_level=None)
    schema.migrate(connection, "store", steps)
    assert connection.execute("SELECT note FROM tombstones").fetchall() == [("old",)]
    assert connection.execute("SELECT max(version) FROM migrations").fetchone() == (len(steps),)
    connection.close()


def test_a_failed_migration_leaves_the_old_version(tmp_path: Path) -> None:
    opened(tmp_path / FILE).close()
    steps = (*schema.STEPS, "CREATE TABLE extra (x); CREATE NONSENSE;")
    connection = sqlite3.connect(tmp_path / FILE, isolation_level=None)
    with pytest.raises(sqlite3.OperationalError, match="syntax"):
        schema.migrate(connection, "store", steps)
    connection.close()
    database = opened(tmp_path / FILE)
    tables = database.call(lambda c: c.execute("SELECT name FROM sqlite_master").fetchall())
    database.close()
    assert ("extra",) not in tables


def test_non_database_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"not a database at all" * 100)
    with pytest.raises(StateError, match=r"store\.sqlite: not a SQLite database; move it away"):
        opened(tmp_path / FILE)


def test_foreign_database_is_refused_and_unchanged(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / FILE) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    with pytest.raises(StateError, match="another program"):
        opened(tmp_path / FILE)
    connection = sqlite3.connect(tmp_path / FILE)
    assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("theirs",)]
    connection.close()


def test_uncreatable_folder_raises_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    remedy = "create the folder and make it writable"
    with pytest.raises(StorageError, match=rf"file.*cannot open: .*; {remedy}"):
        opened(tmp_path / "file" / FILE)


def test_failed_write_is_rolled_back_and_names_the_file(tmp_path: Path) -> None:
    database = opened(tmp_path / FILE)
    database.call(add)

    def two(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM tombstones")
        connection.execute("INSERT INTO nowhere VALUES (1)")

    with pytest.raises(StorageError, match=r"store\.sqlite: cannot write: no such table"):
        database.call(two)
    assert database.call(count) == 1
    database.close()


def test_any_exception_rolls_back(tmp_path: Path) -> None:
    database = opened(tmp_path / FILE)

    def broken(connection: sqlite3.Connection) -> None:
        add(connection)
        raise LookupError("a bug")

    with pytest.raises(LookupError, match="a bug"):
        asyncio.run(database.write(broken))
    assert asyncio.run(database.read(count)) == 0
    database.close()


def test_full_disk_raises_an_error_with_a_remedy_and_recovers(tmp_path: Path) -> None:
    database = opened(tmp_path / FILE)
    database.call(add)
    pages = database.call(lambda c: c.execute("PRAGMA page_count").fetchone()[0])
    database.call(lambda c: c.execute(f"PRAGMA max_page_count = {pages}").fetchone())

    def fill(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO tombstones VALUES (?, 0)", ("x" * 100_000,))

    with pytest.raises(StorageError, match=r"store\.sqlite: .*full; free disk space"):
        database.call(fill)
    assert database.call(count) == 1
    database.call(lambda c: c.execute("PRAGMA max_page_count = 1000000").fetchone())
    database.call(fill)
    assert database.call(count) == 2
    database.close()


def test_lock_timeout_raises_a_storage_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "BUSY_SECONDS", 0.05)
    database = opened(tmp_path / FILE)
    other = sqlite3.connect(tmp_path / FILE, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageError, match="locked; stop the process that locks it"):
        database.call(add)
    other.execute("ROLLBACK")
    other.close()
    database.call(add)
    assert database.call(count) == 1
    database.close()


def test_lock_that_lasts_is_waited_for_briefly(tmp_path: Path) -> None:
    database, timeout = opened(tmp_path / FILE), "PRAGMA busy_timeout"
    database._connection.execute(f"{timeout} = 10")
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageAwayError):
            database.call(add)
        assert asyncio.run(database.read(lambda c: c.execute(timeout).fetchone())) == (500,)
    database.call(add)
    assert asyncio.run(database.read(lambda c: c.execute(timeout).fetchone())) == (30_000,)
    database.close()


def test_store_is_opened_and_read_while_another_process_writes(tmp_path: Path) -> None:
    opened(tmp_path / FILE).close()

    async def check() -> None:
        store = SqliteStore(tmp_path)
        await store.open()
        assert [article async for article in store.select()] == []
        await store.close()

    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        began = time.monotonic()
        asyncio.run(check())
        assert time.monotonic() - began < database_module.BUSY_SECONDS / 2


def test_articles_are_searched_while_another_process_writes(tmp_path: Path) -> None:
    async def search(store: SqliteStore) -> list[str]:
        return [one.url async for one in store.select(Selection(words=words_in("电池")))]

    async def check() -> None:
        store = SqliteStore(tmp_path)
        await store.open()
        await store.save([Article("http://a.test/1", "电池", "动力电池的正文")])
        found = [await search(store)]
        with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            found.append(await search(store))
            other.execute("ROLLBACK")
            await store.save([Article("http://b.test/2", "充电", "另一则关于电池的消息")])
            other.execute("BEGIN IMMEDIATE")
            found.append(await search(store))
            other.execute("ROLLBACK")
        assert found == [["http://a.test/1"]] * 2 + [["http://b.test/2", "http://a.test/1"]]
        assert await search(store) == found[-1]
        assert not await store._database.read(rows.has_unindexed)
        await store.close()

    began = time.monotonic()
    asyncio.run(check())
    assert time.monotonic() - began < database_module.BUSY_SECONDS / 2


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm"])
def test_read_only_store_is_refused_with_a_remedy(suffix: str) -> None:
    with TemporaryDirectory() as folder:  # the folders of pytest are closed to other users
        Path(folder).chmod(0o777)
        other = opened(Path(folder, FILE))
        for path in Path(folder).iterdir():
            path.chmod(0o444 if path.name == FILE + suffix else 0o666)
        remedy = "make the file and its folder writable"
        refused = pytest.raises(StorageError, match=f"{FILE}{suffix}: cannot write: .*; {remedy}")
        with ordinary_user(), refused:
            asyncio.run(SqliteStore(folder).open())
        other.close()


def test_closed_database_raises_an_error_and_can_be_reopened(tmp_path: Path) -> None:
    database = opened(tmp_path / FILE)
    database.close()
    database.close()
    with pytest.raises(StorageError, match="closed; open it first"):
        database.call(count)
    database.open()
    database.open()
    assert database.call(count) == 0
    database.close()


def test_returned_cursor_does_not_affect_later_work(tmp_path: Path) -> None:
    database = opened(tmp_path / FILE)
    query = "INSERT INTO tombstones VALUES (?, 0)"

    async def write(number: int) -> None:
        await database.write(lambda c: c.executemany(query, [(f"{number}.test",)]))

    async def scenario() -> None:
        for batch in range(10):
            await asyncio.gather(*(write(100 * batch + number) for number in range(40)))

    asyncio.run(scenario())
    assert database.call(count) == 400
    database.close()


def test_text_that_is_damaged_is_reported_with_a_remedy(tmp_path: Path) -> None:
    database = opened(tmp_path / FILE)
    with pytest.raises(StorageError, match=r"store\.sqlite: cannot read: .*restore it from"):
        asyncio.run(database.read(lambda c: c.execute("SELECT CAST(x'ff' AS TEXT)").fetchall()))
    database.close()


def test_damaged_article_is_logged_and_hides_no_other(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def damage(connection: sqlite3.Connection) -> None:
        for name in ("1", "2"):
            rows.insert(connection, Article(f"http://a.test/{name}", "标题", f"{name} 正文"))
        connection.execute("UPDATE articles SET body = CAST(x'31ff' AS TEXT) WHERE id = 1")

    database = opened(tmp_path / FILE)
    database.call(damage)
    found, _ = database.call(lambda c: rows.select(c, Selection(), rows.LAST, 9))
    assert [one.body for one in found] == ["2 正文", "1\ufffd"]
    (record,) = caplog.records
    assert "restore the store from a backup" in record.getMessage()
    assert database.call(rows.index_words) == 2
    database.close()


def test_damaged_schema_is_reported_with_a_remedy(tmp_path: Path) -> None:
    opened(tmp_path / FILE).close()
    data = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(
        data.replace(b"CREATE TABLE articles", b"CRE\xffTE TABLE articles")
    )
    with pytest.raises(StorageError, match=r"store\.sqlite: cannot open: .*restore it from"):
        opened(tmp_path / FILE)
    assert written_by(tmp_path / FILE) is None


def test_write_to_a_deleted_file_raises_an_error(tmp_path: Path) -> None:
    database = opened(tmp_path / FILE)
    database.call(add)
    (tmp_path / FILE).unlink()
    with pytest.raises(StorageError, match=r"store\.sqlite: was deleted or replaced"):
        database.call(add)
    other = opened(tmp_path / FILE)
    with pytest.raises(StorageError, match="was deleted or replaced"):
        database.call(add)
    other.call(add)
    database.close()
    other.close()


def test_file_is_created_at_the_end_of_a_symbolic_link(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / FILE).symlink_to(tmp_path / "disk" / FILE)
    database = opened(tmp_path / FILE)
    database.call(add)
    database.close()
    assert (tmp_path / "disk" / FILE).is_file()


def test_page_of_a_topic_does_not_read_all_articles_of_the_topic(tmp_path: Path) -> None:
    steps: list[int] = []
    for number in (50, 5_000):
        database = opened(tmp_path / f"{number}.sqlite")

        def page(c: sqlite3.Connection, most: int = number) -> int:
            c.executemany(
                "INSERT INTO article_topics VALUES (?, 't', 0.5, '[]')",
                ((rows.insert(c, Article(f"http://a.test/{n}", "", "")),) for n in range(most)),
            )
            steps.append(0)
            c.set_progress_handler(lambda: steps.append(steps.pop() + 1), 1)
            return len(rows.select(c, Selection(topic="t"), most + 1, 10)[0])

        assert database.call(page) == 10
        database.close()
    assert steps[1] <= steps[0] * 1.1
