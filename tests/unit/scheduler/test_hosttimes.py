"""Tests of the shared table of host times, by which crawls of one folder take turns at a host."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from topiccrawl.errors import StorageError
from topiccrawl.frontier.contract import Download, Limits, Politeness, Seed
from topiccrawl.frontier.embedded import EmbeddedFrontier
from topiccrawl.links.strategies import FirstCome
from topiccrawl.scheduler.hosttimes import FOLDER, GRACE, HostTimes, SharedHostClock

if TYPE_CHECKING:
    from pathlib import Path

HOST = "news.test"


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def open_frontier(folder: Path, polite: Politeness, times: HostTimes) -> EmbeddedFrontier:
    clock_of = partial(SharedHostClock, times)
    return EmbeddedFrontier(folder, FirstCome(), polite, Limits(), clock=Clock(), clock_of=clock_of)


@pytest.fixture(name="clock")
def _clock() -> Clock:
    return Clock()


def test_host_belongs_to_one_crawl_until_its_delay_ends(tmp_path: Path, clock: Clock) -> None:
    one, other = HostTimes(tmp_path, clock), HostTimes(tmp_path, clock)
    assert one.claim(HOST, 2.0) == 0.0
    assert other.claim(HOST, 2.0) == 2.0
    assert other.claim("other.test", 2.0) == 0.0
    clock.now += 1.5
    assert other.claim(HOST, 2.0) == 0.5
    assert one.claim(HOST, 2.0) == 0.0  # its own frontier keeps the delay
    assert other.claim(HOST, 2.0) == 2.0


def test_waiting_crawl_is_next_for_a_limited_time(tmp_path: Path, clock: Clock) -> None:
    one, other, third = (HostTimes(tmp_path, clock) for _ in range(3))
    one.claim(HOST, 1.0)
    other.claim(HOST, 1.0)
    clock.now += 1.0
    assert third.claim(HOST, 1.0) == one.claim(HOST, 1.0) == GRACE
    assert other.claim(HOST, 1.0) == 0.0
    assert one.claim(HOST, 1.0) == 1.0
    clock.now += 1.0 + GRACE  # the waiting crawl did not claim the host in time
    assert third.claim(HOST, 1.0) == 0.0


def test_retry_after_applies_to_all_crawls(tmp_path: Path, clock: Clock) -> None:
    one, other = HostTimes(tmp_path, clock), HostTimes(tmp_path, clock)
    one.claim(HOST, 1.0)
    one.postpone(HOST, 30.0)
    assert one.claim(HOST, 1.0) == other.claim(HOST, 1.0) == 30.0


def test_table_of_an_earlier_boot_is_deleted(tmp_path: Path, clock: Clock) -> None:
    old = tmp_path / FOLDER / "another-boot"
    old.mkdir(parents=True)
    (old / "data.mdb").write_bytes(b"spoilt")
    assert HostTimes(tmp_path, clock).claim(HOST, 1.0) == 0.0
    assert not old.exists()


def test_unwritable_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / FOLDER).write_text("a file")
    with pytest.raises(StorageError, match="see that its folder can be written"):
        HostTimes(tmp_path)


def test_frontiers_of_one_folder_lease_a_host_in_turn(tmp_path: Path, clock: Clock) -> None:
    polite = Politeness(delay=60.0, jitter=0.0, adaptive=False, robots=False)
    one, other, third = frontiers = [
        open_frontier(tmp_path / name, polite, HostTimes(tmp_path, clock))
        for name in ("one", "other", "third")
    ]
    for frontier in (one, other):
        frontier.push([Seed(f"http://{HOST}/1"), Seed("http://other.test/1")])
    first = one.pop(1)
    assert len(first) == 1
    assert len(other.pop(9)) == 1, "the other host only"
    assert not other.acquire(HOST if HOST in first[0].url else "other.test")
    assert other.next_due() == 60.0
    one.downloaded(first[0], Download(503, retry_after=600.0))
    third.push([Seed(first[0].url)])
    assert third.pop(1) == []
    assert third.next_due() == 600.0
    for frontier in frontiers:
        frontier.close()


def test_request_waits_at_the_send_gate_for_another_crawl(tmp_path: Path, clock: Clock) -> None:
    polite = Politeness(delay=0.05, jitter=0.0, adaptive=False, robots=False)
    times = HostTimes(tmp_path, clock)
    frontier = open_frontier(tmp_path / "one", polite, times)
    frontier.push([Seed(f"http://{HOST}/1")])
    assert len(frontier.pop(1)) == 1
    assert frontier.waits(HOST) == 0.0
    times.postpone(HOST, 60.0)  # as another crawl would, during the connection
    assert frontier.waits(HOST) == 60.0
    assert frontier.waits("unknown.test") == 0.0
    frontier.close()
