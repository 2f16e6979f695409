"""The log of hosts: the last word on each is found again, whatever was killed or cleared."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from tests.unit.frontier.spoiling import spoilt
from topiccrawl.frontier import log as logs
from topiccrawl.frontier.hostlog import NAME, HostLog
from topiccrawl.frontier.segment import RECORD_BYTES

if TYPE_CHECKING:
    from pathlib import Path

HOSTS = 60

State = dict[int, bytes]


def told(hosts: HostLog) -> State:
    return {number: record for number in range(HOSTS) if (record := hosts.get(number))}


@dataclass
class Crawl:
    """A log under any changes, what it should hold, and what was committed when."""

    hosts: HostLog
    now: State = field(default_factory=dict)
    commits: list[tuple[dict[int, int], State]] = field(default_factory=list)

    def grow(self, rng: random.Random, commits: int) -> None:
        for _ in range(commits):
            for number in rng.choices(range(HOSTS), k=rng.randrange(12)):
                record = rng.randbytes(rng.randrange(1, 200)) if rng.random() < 0.8 else b""
                self.hosts.put(number, record)
                self.now[number] = record
            self.now = {number: record for number, record in self.now.items() if record}
            self.commits.append((self.hosts.write(), dict(self.now)))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "SEGMENT_BYTES", 12_000)
    monkeypatch.setattr(logs, "BATCH_BYTES", 500)


@pytest.mark.usefixtures("small")
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32))
def test_every_commit_can_be_gone_back_to(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    """What a kill leaves, or a power cut: a commit's lengths, and files that went on since."""
    folder, rng = tmp_path_factory.mktemp("log"), random.Random(seed)  # noqa: S311
    running = folder / "running"
    running.mkdir()
    crawl = Crawl(HostLog(running))
    crawl.grow(rng, 40)
    assert told(crawl.hosts) == crawl.now
    lengths, then = rng.choice(crawl.commits)
    cut = spoilt(running, NAME, lengths, rng)
    again = HostLog(cut)
    again.open(lengths)
    again.log.clear()
    assert told(again) == then
    after = Crawl(again, then)
    after.grow(rng, 20)
    again.log.close()
    third = HostLog(cut)
    third.open(after.commits[-1][0])
    assert told(third) == after.now
    third.log.close()
    crawl.hosts.log.close()


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("seed", range(3))
def test_the_log_stays_small_and_readers_follow(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311
    crawl, reader = Crawl(HostLog(tmp_path)), HostLog(tmp_path, readonly=True)
    for turn in range(300):
        crawl.grow(rng, 1)
        crawl.hosts.log.drop(crawl.hosts.log.retired())
        if turn % 7 == 0:
            reader.open(crawl.commits[-1][0])
            assert told(reader) == crawl.now
            reader.log.drop(reader.log.retired())
    needed = sum(len(record) + RECORD_BYTES for record in crawl.now.values())
    segments = crawl.hosts.log.segments()
    assert sum(segment.length for segment in segments) < 3 * needed + 6000
    assert len(list(tmp_path.iterdir())) == len(segments)
    assert min(crawl.commits[-1][0]) > 5, "no segment was ever cleared"
    again = HostLog(tmp_path)
    again.open(crawl.commits[-1][0])
    live = [segment.live for segment in again.log.segments()]
    assert live == [segment.live for segment in segments]
    again.log.close()
    reader.log.close()
    crawl.hosts.log.close()
