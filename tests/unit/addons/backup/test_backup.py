"""Tests of backups: contents, refused files, and the version of a data folder."""

from __future__ import annotations

import io
import os
import sqlite3
import sys
import tarfile
from contextlib import ExitStack, closing
from pathlib import Path

import lmdb
import pytest
from scrapy.settings import Settings

from tests.users import ordinary_user
from topiccrawl import __version__
from topiccrawl.addons.backup.archive import MODES, backup, restore
from topiccrawl.addons.doctor.examinations import examine
from topiccrawl.errors import ConfigurationError, StateError, StateVersionError, StorageError
from topiccrawl.frontier import store
from topiccrawl.links.strategies.shark_plus import SharkPlus
from topiccrawl.scheduler.context import CrawlSpec
from topiccrawl.scheduler.frontiers import LocalFrontiers
from topiccrawl.storage.database import Database
from topiccrawl.storage.files import PRIVATE, replacing
from topiccrawl.storage.version import VERSION, write_version, written_by


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with each kind of file."""
    folder = tmp_path / "data"
    for place in ("frontiers/电池", "hosts/boot", "spool"):
        (folder / place).mkdir(parents=True)
        with lmdb.open(str(folder / place)) as env, env.begin(write=True) as txn:
            txn.put(b"url", place.encode())
    (folder / "frontiers/电池/begun").write_bytes(b"key")
    (folder / "spool/one.json").write_text("{}")
    write_version(folder)
    return folder


@pytest.mark.parametrize("suffix", MODES)
def test_backup_includes_databases_that_are_being_written(
    data: Path, tmp_path: Path, suffix: str
) -> None:
    with closing(sqlite3.connect(data / "store.sqlite", isolation_level=None)) as one:
        one.execute("PRAGMA journal_mode=WAL")
        one.execute("CREATE TABLE articles (url)")
        one.execute("INSERT INTO articles VALUES ('a')")
        one.execute("BEGIN IMMEDIATE")
        one.execute("INSERT INTO articles VALUES ('b')")
        number = backup(data, tmp_path / f"copy{suffix}", "hosts")
    copy = tmp_path / "else" / "where"
    assert restore(tmp_path / f"copy{suffix}", copy) == number == 5
    found = {path.relative_to(copy).as_posix() for path in copy.rglob("*") if path.is_file()}
    assert found == {
        "VERSION", "frontiers/电池/data.mdb", "spool/data.mdb", "spool/one.json", "store.sqlite",
    }  # fmt: skip
    with closing(sqlite3.connect(copy / "store.sqlite")) as two:
        assert two.execute("SELECT url FROM articles").fetchall() == [("a",)]
    with lmdb.open(str(copy / "frontiers/电池")) as env, env.begin() as txn:
        assert txn.get(b"url") == "frontiers/电池".encode()
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"copy{suffix}", "data", "else"]


def test_folder_that_cannot_be_read_is_reported(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (data / "frontiers").chmod(0)
    tmp_path.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    unreadable = pytest.raises(StorageError, match="frontiers: cannot be copied")
    with ordinary_user(), unreadable:
        backup(Path("data"), Path("copy.tar"), "hosts")
    assert not (tmp_path / "copy.tar").exists()


def test_data_folder_that_is_a_volume_is_copied(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (data / "lost+found").mkdir(0)
    monkeypatch.chdir(tmp_path)
    for path in (tmp_path, *tmp_path.rglob("*")):
        if path.name != "lost+found":
            path.chmod(0o777)
    with ExitStack() as changed:
        for path in tmp_path.parents:  # since Python 3.12, temporary folders have absolute paths
            if os.geteuid() == 0 and (mode := path.stat().st_mode) & 0o011 != 0o011:
                changed.callback(path.chmod, mode)
                path.chmod(mode | 0o011)
        with ordinary_user():
            assert backup(Path("data"), Path("copy.tar"), "hosts") > 0


@pytest.mark.skipif(sys.platform == "darwin", reason="names of files are UTF-8")
def test_frontier_with_a_name_in_another_encoding_is_copied(data: Path, tmp_path: Path) -> None:
    name = os.fsdecode("电池".encode("gbk"))
    (data / "frontiers/电池").rename(data / "frontiers" / name)
    backup(data, tmp_path / "copy.tar", "hosts")
    restore(tmp_path / "copy.tar", tmp_path / "copy")
    with lmdb.open(os.fsencode(tmp_path / "copy/frontiers" / name)) as env, env.begin() as txn:
        assert txn.get(b"url") == "frontiers/电池".encode()


def test_folder_with_another_name_is_copied_by_its_own(data: Path, tmp_path: Path) -> None:
    (data / "alias").symlink_to("frontiers/电池")  # comes first
    backup(data, tmp_path / "a.tar", "hosts")
    restore(tmp_path / "a.tar", tmp_path / "copy")
    assert (tmp_path / "copy" / "frontiers" / "电池" / "data.mdb").is_file()


def test_folders_on_other_disks_are_copied(data: Path, tmp_path: Path) -> None:
    (data / "frontiers").rename(tmp_path / "disk")
    (data / "frontiers").symlink_to(tmp_path / "disk")
    (tmp_path / "disk" / "loop").symlink_to(data)
    backup(data, tmp_path / "a.tar", "hosts")
    restore(tmp_path / "a.tar", tmp_path / "copy")
    assert not (tmp_path / "copy" / "frontiers").is_symlink()
    names = {path.name for path in (tmp_path / "copy" / "frontiers").iterdir()}
    assert names == {"电池"}
    assert (tmp_path / "copy" / "frontiers" / "电池" / "data.mdb").is_file()


def test_frontiers_are_copied_before_the_store(data: Path, tmp_path: Path) -> None:
    sqlite3.connect(data / "store.sqlite").close()
    sqlite3.connect(data / "webhook.sqlite").close()
    backup(data, tmp_path / "copy.tar", "hosts")
    with tarfile.open(tmp_path / "copy.tar") as tar:
        names = tar.getnames()
    assert names[0] == "frontiers/电池/data.mdb"
    assert names[-2:] == ["store.sqlite", "webhook.sqlite"]


@pytest.mark.parametrize("name", ["../out", "/out", "a/../../out", "a\\..\\out", "link"])
def test_path_outside_the_folder_is_refused_without_traces(tmp_path: Path, name: str) -> None:
    with tarfile.open(tmp_path / "evil.tar.gz", "w:gz") as tar:
        for one in ("good", name):
            member = tarfile.TarInfo(one)
            if one == "link":
                member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
            tar.addfile(member, io.BytesIO())
    with pytest.raises(ConfigurationError, match="not a regular file of a data folder"):
        restore(tmp_path / "evil.tar.gz", tmp_path / "data")
    assert [path.name for path in tmp_path.iterdir()] == ["evil.tar.gz"]


def test_earlier_backups_in_the_folder_are_not_included(data: Path) -> None:
    assert [backup(data, data / f"copy{suffix}", "hosts") for suffix in MODES] == [4] * len(MODES)


def test_temporary_folders_of_other_commands_are_not_included(data: Path) -> None:
    with replacing(data / "all.csv") as part:
        part.write_text("url")
        assert backup(data, data / "one.tar", "hosts") == 4


def test_folder_with_files_is_not_overwritten(data: Path, tmp_path: Path) -> None:
    backup(data, tmp_path / "copy.tar", "hosts")
    with pytest.raises(ConfigurationError, match="is not empty"):
        restore(tmp_path / "copy.tar", data)
    (tmp_path / "new").mkdir()
    assert restore(tmp_path / "copy.tar", tmp_path / "new") == 4


def test_restored_files_are_private(data: Path, tmp_path: Path) -> None:
    backup(data, tmp_path / "copy.tar", "hosts")
    restore(tmp_path / "copy.tar", tmp_path / "new")
    files = [path for path in (tmp_path / "new").rglob("*") if path.is_file()]
    assert {path.stat().st_mode & 0o777 for path in files} == {PRIVATE}


@pytest.mark.parametrize("suffix", MODES)
def test_truncated_file_leaves_nothing(data: Path, tmp_path: Path, suffix: str) -> None:
    (data / "noise").write_bytes(bytes(range(256)) * 4096)
    file = tmp_path / f"copy{suffix}"
    backup(data, file, "hosts")
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    with pytest.raises(ConfigurationError, match="damaged"):
        restore(file, tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("suffix", [".tar.gz", ".tar.zst"])
def test_changed_byte_of_a_compressed_file_is_detected(
    data: Path, tmp_path: Path, suffix: str
) -> None:
    (data / "noise").write_bytes(os.urandom(100_000))
    file = tmp_path / f"copy{suffix}"
    backup(data, file, "hosts")
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(ConfigurationError, match="damaged"):
        restore(file, tmp_path / "new")


def test_tar_file_without_its_last_files_is_refused(data: Path, tmp_path: Path) -> None:
    sqlite3.connect(data / "store.sqlite").close()
    file = tmp_path / "copy.tar"
    backup(data, file, "hosts")
    with tarfile.open(file) as tar:
        end = tar.getmember("store.sqlite").offset
    content = file.read_bytes()
    for damaged in (content[:end], content[:end] + b"x" + content[end + 1 :]):
        file.write_bytes(damaged)
        with pytest.raises(ConfigurationError, match="no end of archive"):
            restore(file, tmp_path / "new")


def test_file_in_place_of_the_folder_is_reported(data: Path, tmp_path: Path) -> None:
    backup(data, tmp_path / "copy.tar", "hosts")
    with pytest.raises(StorageError, match="Not a directory"):
        restore(tmp_path / "copy.tar", tmp_path / "copy.tar")


def test_other_names_and_folders_are_refused(data: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"unknown suffix; choose one of \.tar"):
        backup(data, tmp_path / "copy.zip", "hosts")
    with pytest.raises(StateError, match="no such data folder"):
        backup(tmp_path / "none", tmp_path / "copy.tar", "hosts")


@pytest.mark.parametrize(
    ("found", "level"),
    [("99.1", "fail"), ("x", "fail"), ("0.1", "ok"), ("", "ok")],  # empty: written to a full disk
)
def test_folder_of_a_newer_version_is_not_restored(
    data: Path, tmp_path: Path, found: str, level: str
) -> None:
    (data / VERSION).write_text(found)
    backup(data, tmp_path / "copy.tar", "hosts")
    write_version(data)
    assert written_by(data) == (found if level == "fail" else __version__)
    finding, *_ = examine(Settings({"TOPICCRAWL_DATA_DIR": str(data)}), ["state"])
    assert finding.level == level
    if level == "fail":
        assert f"written by topiccrawl {found}, this is {__version__}" in finding.text
        with pytest.raises(StateVersionError, match=r"copy\.tar: written by topiccrawl"):
            restore(tmp_path / "copy.tar", tmp_path / "new")
        assert not (tmp_path / "new").exists()
    else:
        restore(tmp_path / "copy.tar", tmp_path / "new")


def test_frontier_of_another_format_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings({"TOPICCRAWL_DATA_DIR": str(tmp_path)})
    settings.setmodule("topiccrawl.settings", priority="default")
    spec = CrawlSpec(name="football", owner="topic:football", strategy=SharkPlus())
    monkeypatch.setattr(store, "FORMAT", 1)
    LocalFrontiers(settings).open("football", spec).close()
    monkeypatch.undo()
    findings = list(examine(settings, ["state"]))
    assert [one.level for one in findings] == ["ok", "fail"]
    assert "written in format 1" in findings[1].text
    assert "TOPICCRAWL_CRAWL=football`" in findings[1].text, "found without a migrated store"
    jobs = tmp_path / "two jobs"
    jobs.mkdir()
    (tmp_path / "frontiers" / "football").rename(jobs / "frontier")
    settings.set("JOBDIR", str(jobs))
    with pytest.raises(StateVersionError, match=f"=frontier -s JOBDIR='{jobs}'`"):
        LocalFrontiers(settings).open("football", spec)


def test_versions_of_all_frontiers_and_stores_are_checked(tmp_path: Path) -> None:
    empty = Settings({"TOPICCRAWL_DATA_DIR": str(tmp_path / "new")})
    assert [one.text for one in examine(empty, ["state"])] == [f"{tmp_path / 'new'}: no data yet"]
    settings = Settings({"TOPICCRAWL_DATA_DIR": str(tmp_path), "JOBDIR": str(tmp_path / "job")})
    settings.setmodule("topiccrawl.settings", priority="default")
    spec = CrawlSpec(name="football", owner="topic:football", strategy=SharkPlus())
    LocalFrontiers(settings).open("football", spec).close()
    with closing(Database(tmp_path / "store.sqlite")) as database:
        database.open()
    (other := tmp_path / "frontiers" / "other").mkdir(parents=True)
    (other / VERSION).write_text("99.1")
    findings = list(examine(settings, ["state"]))
    assert [one.level for one in findings] == ["ok", "fail", "ok", "ok"]
    assert f"{other}: written by topiccrawl 99.1" in findings[1].text
    for one, name in zip(findings[2:], ("job/frontier", "store.sqlite"), strict=True):
        assert one.text.endswith(f"{name}: written by topiccrawl {__version__}")
    frontiers = LocalFrontiers(settings)
    frontiers.discard(frontiers.place("football"))
    assert not (tmp_path / "job" / "frontier" / VERSION).exists()
