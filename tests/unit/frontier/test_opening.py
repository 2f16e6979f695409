"""Tests of opening and closing a frontier: the queues are rebuilt from the rows."""

from __future__ import annotations

import logging
import os
import random
import resource
import shutil
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.contracts.strategies import Plain
from topiccrawl.errors import StorageError
from topiccrawl.frontier import queues
from topiccrawl.frontier.contract import Ending, Limits, Outcome, Politeness, Seed
from topiccrawl.frontier.embedded import EmbeddedFrontier
from topiccrawl.frontier.view import View
from topiccrawl.model import Offer
from topiccrawl.storage import lmdb_files
from topiccrawl.storage.lmdb_files import require_complete

if TYPE_CHECKING:
    from pathlib import Path

QUICK = Politeness(delay=0.0, jitter=0.0, adaptive=False, robots=False, concurrency=1000)
DAMAGED = r"is damaged .*topiccrawl restore"


def opened(path: Path) -> EmbeddedFrontier:
    return EmbeddedFrontier(path, Plain(), QUICK, Limits(), clock=lambda: 1e6, sync="never")


def orders(frontier: EmbeddedFrontier) -> list[list[list[int]]]:
    """Return the queued numbers of each lane of each unit, in order."""
    return [
        [list(order or ()) for order in unit.orders]
        for host in frontier.registry.hosts
        for unit in host.units
    ]


def test_queue_order_is_rebuilt_from_rows_in_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(queues, "BATCH", 7)
    monkeypatch.setattr(queues, "LOG_BATCHES", 10)
    rng = random.Random(1)  # noqa: S311
    frontier = opened(tmp_path)
    frontier.push([Seed(f"http://h{n}.cn/") for n in range(5)])
    for page in range(20):
        (lease,) = frontier.pop()
        links = [
            Offer(f"http://h{rng.randrange(9)}.cn/d{n % 3}/{page}-{n}", n % 3, (rng.random(), 0.0))
            for n in range(12)
        ]
        later = Outcome(Ending.LATER, "http-503", not_before=2e6)
        frontier.finish(lease, Outcome(Ending.CRAWLED) if page % 4 else later, links)
    before = orders(frontier)
    frontier.close()
    with caplog.at_level(logging.INFO):
        reopened = opened(tmp_path)
    assert orders(reopened) == before
    assert sum(len(lane) for unit in before for lane in unit) > 100
    assert "URLs ordered" in caplog.text
    reopened.close()


@pytest.mark.skipif(sys.platform == "darwin", reason="names of files are UTF-8")
def test_folder_with_a_name_in_another_encoding_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / os.fsdecode("电池".encode("gbk"))
    frontier = opened(folder)
    frontier.push([Seed("http://a.cn/")])
    frontier.close()
    reopened = opened(folder)
    assert reopened.counts()["known"] == 1
    reopened.close()
    monkeypatch.setattr(lmdb_files, "_required_size", lambda _: 1 << 40)
    require_complete(folder)  # a truncated file of which all values can be read


@pytest.mark.parametrize("damaged", [b"\1", b"http://a.test/".replace(b"a", b"\xff")])
def test_damaged_rows_are_reported_with_a_remedy(tmp_path: Path, damaged: bytes) -> None:
    frontier = opened(tmp_path)
    frontier.push([Seed("http://a.test/")])
    ((key, row),) = frontier.store.items("urls")
    cut = damaged == b"\1"
    frontier.store.put("urls", key, damaged if cut else row.replace(b"http://a.test/", damaged))
    frontier.close()
    with closing(View.read(tmp_path, Plain())) as view, pytest.raises(StorageError, match=DAMAGED):
        view.why("http://a.test/")
    with closing(View.read(tmp_path, Plain())) as view, pytest.raises(StorageError, match=DAMAGED):
        list(view.iterate("prior"))
    if cut:
        with pytest.raises(StorageError, match=DAMAGED):
            opened(tmp_path)


def test_full_disk_is_reported_with_a_remedy(tmp_path: Path) -> None:
    frontier = opened(tmp_path)
    frontier.push([Seed("http://a.test/")])
    frontier.close()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16_384, before[1]))
    try:
        with pytest.raises(StorageError, match=f"{tmp_path}: .*free disk space"):
            opened(tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    reopened = opened(tmp_path)
    assert reopened.counts()["known"] == 1
    reopened.close()


def test_error_of_the_strategy_is_not_taken_for_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frontier = opened(tmp_path)
    frontier.push([Seed("http://a.test/")])
    frontier.close()
    monkeypatch.setattr(Plain, "bias", lambda *_: dict[str, float]()["a bug"])
    with pytest.raises(KeyError, match="a bug"):
        opened(tmp_path)
    with closing(View.read(tmp_path, Plain())) as view, pytest.raises(KeyError, match="a bug"):
        view.why("http://a.test/")


@pytest.mark.parametrize("again", [False, True])
def test_frontier_that_was_deleted_while_it_is_open_is_not_written_on(
    tmp_path: Path, *, again: bool
) -> None:
    frontier = opened(tmp_path / "frontier")
    frontier.push([Seed("http://a.cn/")])
    frontier.commit()
    shutil.rmtree(tmp_path / "frontier")
    if again:  # another crawl starts over
        opened(tmp_path / "frontier").close()
    frontier.push([Seed("http://b.cn/")])
    with pytest.raises(StorageError, match=r"cannot be written .*data\.mdb"):
        frontier.commit()
    frontier.close()


@pytest.mark.parametrize("url", ["", "/news", "a.cn/news", "mailto:x"])
def test_url_without_a_host_is_refused(tmp_path: Path, url: str) -> None:
    frontier = opened(tmp_path)
    with pytest.raises(ValueError, match=r" has no host: see topiccrawl\.canonicalize_url"):
        frontier.push([Seed("http://a.cn/"), Seed(url)])
    assert [lease.url for lease in frontier.pop(2)] == ["http://a.cn/"]
    frontier.close()


def test_closed_frontier_is_named_as_closed(tmp_path: Path) -> None:
    frontier = opened(tmp_path)
    frontier.close()
    with pytest.raises(StorageError, match="the frontier is closed: open it again"):
        frontier.pop()


def test_frontier_without_changes_is_not_written(tmp_path: Path) -> None:
    frontier = opened(tmp_path)
    frontier.push([Seed("http://a.cn/")])
    frontier.commit()
    before = frontier.store.env.info()["last_txnid"]
    for _ in range(3):  # the timer of a crawl that waits
        assert frontier.sweep() == 0
        frontier.commit(wait=False)
    frontier.commit()
    assert frontier.store.env.info()["last_txnid"] == before
    frontier.close()
