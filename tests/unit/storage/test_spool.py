"""Tests of the spool file: order, adoption, damaged lines and a full disk."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.waiting import PATIENCE
from topiccrawl.errors import StorageError
from topiccrawl.model import Article
from topiccrawl.storage import spool as spool_module
from topiccrawl.storage.spool import Spool

if TYPE_CHECKING:
    from pathlib import Path


def articles(*numbers: int) -> list[Article]:
    return [
        Article(f"http://a.test/{n}", "题\n\ud800", "文", terms=(("词", 0.5),)) for n in numbers
    ]


def all_of(spool: Spool) -> list[Article]:
    found: list[Article] = []
    while waiting := spool.peek(2):
        found += waiting
        spool.drop()
    assert spool.waiting == 0
    return found


def test_spool_returns_articles_in_order_and_deletes_its_file(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    spool.append(articles(1, 2))
    spool.append(articles(3))
    assert spool.waiting == 3
    assert spool.peek(2) == spool.peek(2) == articles(1, 2)
    spool.drop()
    spool.append(articles(4))
    assert all_of(spool) == articles(3, 4)
    assert list((tmp_path / "spool").iterdir()) == []
    spool.append(articles(5))
    assert all_of(spool) == articles(5)
    spool.close()


def test_unused_spool_creates_no_file(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    spool.open()
    spool.close()
    assert list(tmp_path.iterdir()) == []


def test_open_adopts_only_spools_of_ended_processes(tmp_path: Path) -> None:
    first, second = Spool(tmp_path), Spool(tmp_path)
    first.append(articles(1, 2))
    second.open()
    assert second.waiting == 0
    first.close()
    second.append(articles(3))
    third = Spool(tmp_path)
    third.open()
    assert all_of(third) == articles(1, 2)
    third.close()
    assert all_of(second) == articles(3)
    second.close()


KILLED = """
import os, signal, sys
from topiccrawl.model import Article
from topiccrawl.storage.spool import Spool
spool = Spool(sys.argv[1])
spool.append([Article("http://a.test/1", "题", "文")])
spool._file.seek(0, 2)
spool._file.write(b"01234567 {")
spool._file.flush()
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_truncated_line_is_skipped(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], timeout=PATIENCE, check=False)
    spool = Spool(tmp_path)
    spool.open()
    assert [article.url for article in all_of(spool)] == ["http://a.test/1"]
    spool.close()


def test_full_spool_refuses_a_whole_group_and_keeps_its_articles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool_module, "LIMIT", 800)
    spool = Spool(tmp_path)
    spool.append(articles(1))
    with pytest.raises(StorageError, match="full"):
        spool.append(articles(2, 3, 4))
    assert all_of(spool) == articles(1)
    spool.close()


def test_damaged_line_is_counted_once(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], timeout=PATIENCE, check=False)
    spool = Spool(tmp_path)
    spool.open()
    for _ in range(3):  # the database is unavailable again
        assert [article.url for article in spool.peek(5)] == ["http://a.test/1"]
    spool.drop()
    assert spool.waiting == 0
    spool.close()


FULL_DISK = """
import resource, sys
from topiccrawl.errors import StorageError
from topiccrawl.model import Article
from topiccrawl.storage.spool import Spool
spool = Spool(sys.argv[1])
spool.append([Article("http://a.test/1", "题", "文")])
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, resource.RLIM_INFINITY))
try:
    spool.append([Article("http://a.test/2", "题", "文" * 1_000)])
except StorageError as error:
    print("reported")
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
spool.append([Article("http://a.test/3", "题", "文")])
print(spool.waiting)
spool.close()
"""


def test_full_disk_is_reported_and_keeps_the_file(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path)],
        timeout=PATIENCE, check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout.split() == ["reported", "2"]
    spool = Spool(tmp_path)
    spool.open()
    assert [article.url for article in all_of(spool)] == ["http://a.test/1", "http://a.test/3"]
    spool.close()
