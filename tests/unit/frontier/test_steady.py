"""Tests of politeness when the system clock is set forwards or back by hours."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tests.contracts.strategies import Plain
from topiccrawl.frontier.contract import Ending, Limits, Outcome, Politeness, Seed
from topiccrawl.frontier.embedded import EmbeddedFrontier
from topiccrawl.frontier.politeness import steady_clock

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

CRAWLED = Outcome(Ending.CRAWLED)
POLITE = Politeness(delay=1.0, jitter=0.0, adaptive=False, robots_ttl=1000.0)
HOURS = 90_000.0


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def opened(folder: Path, clock: Clock) -> EmbeddedFrontier:
    return EmbeddedFrontier(folder, Plain(), POLITE, Limits(), clock=clock, sync="never")


def test_stored_times_in_the_future_are_ignored(tmp_path: Path) -> None:
    clock = Clock()
    frontier = opened(tmp_path, clock)
    frontier.push([Seed("http://a.cn/1"), Seed("http://a.cn/2")])
    frontier.robots(frontier.pop()[0], b"", 200)
    clock.now += 1.0
    frontier.finish(frontier.pop()[0], CRAWLED)
    frontier.close()
    clock.now -= HOURS
    frontier = opened(tmp_path, clock)
    (lease,) = frontier.pop()
    assert lease.url == "http://a.cn/2"
    frontier.finish(lease, CRAWLED)
    clock.now += 1000.0
    frontier.push([Seed("http://a.cn/3")])
    assert frontier.pop()[0].url == "http://a.cn/robots.txt"
    frontier.close()


def test_steady_clock_ignores_jumps_of_the_system_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, wall = steady_clock(), time.time
    frontier = EmbeddedFrontier(tmp_path, Plain(), POLITE, Limits(), sync="never")
    for jump in (-HOURS, HOURS):
        monkeypatch.setattr(time, "time", lambda jump=jump: wall() + jump)
        assert abs(frontier.clock() - clock()) < HOURS / 2
    frontier.close()
