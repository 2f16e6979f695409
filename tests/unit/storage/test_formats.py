"""Tests of table files: formula cells and files that cannot be written."""

from __future__ import annotations

import csv
import gc
import resource
import subprocess
import sys
from contextlib import nullcontext
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings
from scrapy.utils.misc import load_object

from topiccrawl import settings as project
from topiccrawl.addons.records.commands.records import formats as record_formats
from topiccrawl.addons.records.record import FoundValue, Record
from topiccrawl.addons.records.records import StoredRecord
from topiccrawl.errors import ConfigurationError
from topiccrawl.model import Article
from topiccrawl.storage import formats
from topiccrawl.storage.files import replacing
from topiccrawl.storage.formats import open_writer
from topiccrawl.storage.tables import COLUMNS, Table

FORMATS = Table(columns=tuple(COLUMNS)).formats()


def test_error_of_a_missing_extra_names_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formats, "find_spec", lambda _: None)
    path = tmp_path / "all.parquet"
    raises = pytest.raises(ConfigurationError, match=r"/all\.parquet: needs pyarrow: pip install")
    with raises, open_writer(str(path), FORMATS):
        raise AssertionError
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize("suffix", [".xlsx", ".csv", ".parquet"])
def test_full_disk_raises_one_error(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"all{suffix}"
    monkeypatch.setattr(formats, "replacing", lambda _: nullcontext(Path("/dev/full")))
    full = pytest.raises(ConfigurationError, match=r"cannot be written: .*No space left on device")
    with full, open_writer(str(path), FORMATS) as writer:
        writer.write(Article("http://a.test/1", "题", "文" * 9_000))
    gc.collect()  # an object that fails to close its file would raise a warning, here an error


def test_full_folder_of_temporary_files_raises_one_error(tmp_path: Path) -> None:
    path, (soft, hard) = tmp_path / "all.xlsx", resource.getrlimit(resource.RLIMIT_FSIZE)
    path.write_bytes(b"old")
    refused = pytest.raises(ConfigurationError, match=r"all\.xlsx: cannot be written: ")
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with refused, open_writer(str(path), FORMATS) as writer:
            for number in range(400):
                writer.write(Article(f"http://a.test/{number}", "题", "文" * 9_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_bytes() == b"old"


def test_two_that_write_the_same_file_do_not_mix(tmp_path: Path) -> None:
    path = tmp_path / f"{'n' * 251}.csv"  # the longest name
    with replacing(path) as part:
        part.write_text("own, first half")
        with replacing(path) as other:  # processes of two containers may have the same number
            other.write_text("other")
        assert path.read_text() == "other"
        with part.open("a") as file:
            file.write(" and second half")
    assert path.read_text() == "own, first half and second half"
    assert list(tmp_path.iterdir()) == [path]


_WRITING = """
import sys
from pathlib import Path
from topiccrawl.storage.files import replacing
with replacing(Path(sys.argv[1])) as part:
    part.write_text("new")
    print("begun", flush=True)
    sys.stdin.read()
"""


def test_next_writer_deletes_files_of_killed_processes_only(tmp_path: Path) -> None:
    path, pipe = tmp_path / "all.csv", subprocess.PIPE
    download = tmp_path / "other.part"
    download.touch()
    command = [sys.executable, "-c", _WRITING, str(path)]
    with (
        subprocess.Popen(command, stdin=pipe, stdout=pipe) as killed,
        subprocess.Popen(command, stdin=pipe, stdout=pipe) as running,
    ):
        for process in (killed, running):
            assert process.stdout is not None
            assert process.stdout.readline() == b"begun\n"
        killed.kill()
        killed.wait()
        assert len(list(tmp_path.iterdir())) == 3
        with replacing(path) as part:
            part.write_text("next")
        assert len(list(tmp_path.iterdir())) == 3, "the file, and that of the running process"
        running.communicate()
    assert path.read_text() == "new"
    assert sorted(tmp_path.iterdir()) == [path, download]


@pytest.mark.parametrize("suffix", [".xlsx", ".csv", ".parquet"])
def test_interrupted_export_keeps_the_old_file(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"all{suffix}"
    path.write_bytes(b"old")

    def export() -> None:
        with open_writer(str(path), FORMATS) as writer:
            for number in range(formats.GROUP + 1):
                writer.write(Article(f"http://a.test/{number}", "题", "文"))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export()
    gc.collect()  # as above
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


RUN = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "＝1+1", "-", "+86 28 1"]
LEFT = ["-3", "-3.5", "+8628", "-1e3", "a=1", "1-2", "", "'=1", "[-1]"]


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_formula_cells_are_written_as_text(tmp_path: Path) -> None:
    wanted = ["'" + text for text in RUN] + LEFT
    with open_writer(str(tmp_path / "a.csv"), FORMATS) as articles:
        for text in (*RUN, *LEFT):
            articles.write(Article("http://a.test/", text, "", depth=-1))
    assert [row["title"] for row in rows_of(tmp_path / "a.csv")] == wanted
    assert {row["depth"] for row in rows_of(tmp_path / "a.csv")} == {"-1"}
    with open_writer(str(tmp_path / "r.csv"), record_formats(("QQ", "=1"))) as records:
        for text in (*RUN, *LEFT):
            records.write(StoredRecord("a.test", Record("t", "n", (FoundValue("QQ", text),), ())))
    found = rows_of(tmp_path / "r.csv")
    assert [row["QQ"] for row in found] == wanted
    assert "'=1" in found[0]


def test_formula_cells_of_scrapy_feeds_are_text() -> None:
    settings = Settings()
    settings.setmodule(project)
    exporter: Any = load_object(settings.getwithbase("FEED_EXPORTERS")["csv"])
    exporter = exporter(file := BytesIO(), encoding="utf-8")
    exporter.export_item({"title": "=1+1", "=name": "-3", "depth": -1})
    assert file.getvalue().decode().splitlines() == ["title,'=name,depth", "'=1+1,-3,-1"]
