"""The power goes: the disk holds any mixture of pages, and the last checkpoint is there, whole."""

from __future__ import annotations

import random
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.contracts.strategies import Best
from topiccrawl.frontier import checkpoint, hostlog, store
from topiccrawl.frontier import log as logs
from topiccrawl.frontier.checkpoint import SAFE, restore
from topiccrawl.frontier.contract import Ending, Limits, Outcome, Politeness, Seed
from topiccrawl.frontier.embedded import EmbeddedFrontier
from topiccrawl.model import Offer

if TYPE_CHECKING:
    from pathlib import Path

    from topiccrawl.frontier.portable import Entry

QUICK = Politeness(delay=0.0, jitter=0.0, adaptive=False, robots=False, concurrency=1000)
PAGE = 4096
HERE, THERE = b"here".ljust(36), b"there".ljust(36)


def opened(folder: Path) -> EmbeddedFrontier:
    return EmbeddedFrontier(folder, Best(), QUICK, Limits())


def crawl(frontier: EmbeddedFrontier, rng: random.Random, pages: int) -> None:
    for _ in range(pages):
        (lease,) = frontier.pop()
        numbers = [rng.randrange(3000) for _ in range(20)]
        links = [Offer(f"http://h{n % 9}.cn/{n % 4}/{n}", 1, (n % 8 / 8, 0.0)) for n in numbers]
        frontier.finish(lease, Outcome(Ending.CRAWLED, relevance=0.5), links)


def files(folder: Path) -> list[Path]:
    return [folder / "data.mdb", *folder.glob("*.log")]


def told(
    frontier: EmbeddedFrontier,
) -> tuple[dict[str, int], list[tuple[str, float, str]], list[Entry]]:
    names = ("prior", "normal", "crawled", "error")
    rows = [row for name in names for row in frontier.iterate(name)]
    return frontier._view.recount(), rows, list(frontier._view.export())


def torn(before: bytes, after: bytes, rng: random.Random) -> bytes:
    """What the disk may hold: each page as it was flushed last, or as it was written later."""
    after = after.ljust(len(before), b"\0")
    before = before.ljust(len(after), b"\0")
    starts = range(0, len(after), PAGE)
    return b"".join([rng.choice((before, after))[at : at + PAGE] for at in starts])


@pytest.mark.parametrize("seed", range(4))
def test_after_a_power_cut_the_last_checkpoint_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(store, "CHECKPOINT_SECONDS", 1e9)
    monkeypatch.setattr(logs, "SEGMENT_BYTES", 20_000)
    monkeypatch.setattr(hostlog, "PARTS", 8)
    monkeypatch.setattr(checkpoint, "boot_id", lambda: HERE)
    monkeypatch.setattr(store, "boot_id", lambda: HERE)
    rng = random.Random(seed)  # noqa: S311
    folder = tmp_path / "running"
    frontier = opened(folder)
    frontier.push([Seed(f"http://h{n}.cn/") for n in range(9)])
    crawl(frontier, rng, 100)
    frontier._commit()
    assert frontier._store._checkpoint is not None
    frontier._store.txn.commit()
    frontier._store._checkpoint.begin(wait=True)
    frontier._store.begin()
    expected = told(frontier)
    flushed = {path.name: path.read_bytes() for path in files(folder)}
    for _ in range(15):
        crawl(frontier, rng, 20)
        frontier._commit()
    assert all(log.retired() for log in frontier._store._manifest.logs)
    cut = tmp_path / "cut"
    shutil.copytree(folder, cut)
    for path in files(cut):
        path.write_bytes(torn(flushed.get(path.name, b""), path.read_bytes(), rng))
    frontier.close()
    monkeypatch.setattr(checkpoint, "boot_id", lambda: THERE)
    monkeypatch.setattr(store, "boot_id", lambda: THERE)
    again = opened(cut)
    assert again._store.restored
    assert told(again) == expected
    crawl(again, rng, 50)
    assert again._view.recount()["crawled"] == expected[0]["crawled"] + 50
    again.close()


def test_a_killed_process_loses_nothing_to_the_checkpoint(tmp_path: Path) -> None:
    frontier = opened(tmp_path / "killed")
    frontier.push([Seed("http://a.cn/")])
    frontier.commit()
    shutil.copytree(tmp_path / "killed", tmp_path / "copy")
    frontier.close()
    again = opened(tmp_path / "copy")
    assert not again._store.restored
    assert again.counts()["known"] == 1
    again.close()


def test_a_clean_close_needs_no_root_kept(tmp_path: Path) -> None:
    frontier = opened(tmp_path)
    assert (tmp_path / SAFE).exists()
    frontier.close()
    assert not (tmp_path / SAFE).exists()
    assert not restore(tmp_path, THERE)


def test_what_is_no_root_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "data.mdb").write_bytes(b"data")
    (tmp_path / SAFE).write_bytes(HERE + b"short")
    assert not restore(tmp_path, THERE)
    assert (tmp_path / "data.mdb").read_bytes() == b"data"
