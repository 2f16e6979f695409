"""Tests of politeness when the system clock is set forwards or back by hours."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.contracts.strategies import Plain
from topiccrawl.frontier.contract import Download, Ending, Limits, Outcome, Politeness, Seed
from topiccrawl.frontier.embedded import EmbeddedFrontier
from topiccrawl.frontier.politeness import steady_clock

if TYPE_CHECKING:
    from pathlib import Path

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
    assert (frontier.pop(), frontier.next_due()) == ([], 1.0)  # the delay is still obeyed
    clock.now += 1.0
    (lease,) = frontier.pop()
    assert lease.url == "http://a.cn/2"
    frontier.finish(lease, CRAWLED)
    clock.now += 1000.0
    frontier.push([Seed("http://a.cn/3")])
    assert frontier.pop()[0].url == "http://a.cn/robots.txt"
    frontier.close()


@pytest.mark.parametrize("hours", [0.5, 24.0])
def test_waits_are_no_longer_after_the_clock_was_set_back(tmp_path: Path, hours: float) -> None:
    clock, polite = Clock(), replace(POLITE, robots=False)

    def opened() -> EmbeddedFrontier:
        return EmbeddedFrontier(tmp_path, Plain(), polite, Limits(), clock=clock, sync="never")

    frontier = opened()
    frontier.push([Seed("http://a.cn/"), Seed("http://b.cn/")])
    later = Outcome(Ending.LATER, "timeout", not_before=clock.now + 60.0)
    frontier.finish(frontier.pop()[0], later)
    frontier.downloaded(frontier.pop()[0], Download(429, None, 100.0))
    frontier.close()
    for _ in range(2):  # the second one after a kill
        clock.now -= 3600.0 * hours
        frontier = opened()
        assert frontier.next_due() == 60.0
        frontier.abandon()
    frontier = opened()
    for wait, url in ((60.0, "http://a.cn/"), (40.0, "http://b.cn/")):
        assert frontier.next_due() == wait
        clock.now += wait
        assert [lease.url for lease in frontier.pop()] == [url]
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
