from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

from warcio.archiveiterator import ArchiveIterator

from topiccrawl.stores.archive import Archive, Exchange, exchanges

if TYPE_CHECKING:
    from pathlib import Path

HEADERS = (("Content-Type", "text/html; charset=gbk"), ("X-Made-By", "nobody"))


def exchange(number: int, body: bytes = b"") -> Exchange:
    text = body or f"<p>第{number}页</p>".encode("gbk")
    url = f"http://www.a.test/{number}?b=1&a=2"
    return Exchange(url, 1.6e9 + number, "GET", (("User-Agent", "t"),), 200, HEADERS, text)


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.warc.gz"))


def valid(folder: Path) -> bool:
    command = [sys.executable, "-m", "warcio.cli", "check", *map(str, files(folder))]
    return subprocess.run(command, timeout=60, check=False).returncode == 0


def test_what_is_written_is_valid_and_comes_back(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    archive.open()
    written = [exchange(n) for n in range(5)]
    for one in written:
        archive.write(one)
    archive.close()
    archive.close()
    (file,) = files(tmp_path)
    assert valid(tmp_path)
    found = list(exchanges(file))
    assert [(one.url, one.at, one.status, one.body, one.headers) for one in found] == [
        (one.url, one.at, one.status, one.body, one.headers) for one in written
    ]
    with file.open("rb") as opened:
        kinds = [record.rec_type for record in ArchiveIterator(opened)]
    assert kinds == ["warcinfo", *["response", "request"] * 5]


def test_the_index_leads_to_each_record(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    archive.open()
    for number in (3, 1, 2):
        archive.write(exchange(number))
    archive.close()
    (file,) = files(tmp_path)
    lines = file.with_name(file.name.replace(".warc.gz", ".cdxj")).read_text("utf-8").splitlines()
    assert [line.split(" ")[0] for line in lines] == [f"test,a)/{n}?a=2&b=1" for n in (1, 2, 3)]
    for number, line in enumerate(lines, 1):
        entry = json.loads(line.split(" ", 2)[2])
        with file.open("rb") as opened:
            opened.seek(int(entry["offset"]))
            part = opened.read(int(entry["length"]))
        (tmp_path / "one").write_bytes(part)
        (alone,) = exchanges(tmp_path / "one")
        assert alone.body == exchange(number).body
        assert entry["filename"] == file.name


def test_a_known_body_is_not_written_again(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    archive.open()
    body = b"<p>the same</p>" * 1000
    archive.write(exchange(1, body))
    archive.write(exchange(2, body))
    archive.close()
    (file,) = files(tmp_path)
    with file.open("rb") as opened:
        kinds = [record.rec_type for record in ArchiveIterator(opened)]
    assert kinds == ["warcinfo", "response", "request", "revisit", "request"]
    assert valid(tmp_path)


def test_files_are_closed_by_size(tmp_path: Path) -> None:
    archive = Archive(tmp_path, size=1500)
    archive.open()
    for number in range(6):
        archive.write(exchange(number))
    archive.close()
    assert len(files(tmp_path)) > 1
    assert sum(1 for file in files(tmp_path) for _ in exchanges(file)) == 6
    assert not list(tmp_path.glob("*.open"))


KILLED = """
import os, signal, sys
from tests.unit.stores.test_archive import exchange
from topiccrawl.stores.archive import Archive
archive = Archive(sys.argv[1])
archive.open()
archive.write(exchange(1))
archive.write(exchange(2))
size = archive._file.tell()
archive.write(exchange(3))
archive._file.truncate(size + 100)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_left_is_mended_by_the_next(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-c", KILLED, str(tmp_path)]
    subprocess.run(command, timeout=60, check=False)
    assert not files(tmp_path)
    archive = Archive(tmp_path)
    archive.open()
    archive.close()
    (file,) = files(tmp_path)
    assert [one.url for one in exchanges(file)] == [exchange(1).url, exchange(2).url]
    assert valid(tmp_path)
