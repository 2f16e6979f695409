"""The log: what was written is found again, after any kill, any number of segments cleared."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from tests.unit.frontier.spoiling import spoilt
from topiccrawl.errors import StorageError
from topiccrawl.frontier import log as logs
from topiccrawl.frontier.urls import NAME, Urls

if TYPE_CHECKING:
    from pathlib import Path

State = dict[bytes, tuple[int, bytes, bytes]]
"""Key to number, row and links."""


def told(urls: Urls) -> State:
    return {
        urls.key(number): (number, urls.get(number), urls.links(number))
        for number in urls.numbers().tolist()
    }


def key(number: int) -> bytes:
    return bytes([number % 5]) * 4 + number.to_bytes(8, "big")


@dataclass
class Crawl:
    """Urls under any changes, what they should be, and what was committed when."""

    urls: Urls
    now: State = field(default_factory=dict)
    commits: list[tuple[dict[int, int], State]] = field(default_factory=list)
    made: int = 0

    def step(self, rng: random.Random) -> None:
        known = list(self.now)
        kind = rng.choice("aaauuuuuuuldf" if known else "a")
        if kind == "a":
            self.made += rng.choice((1, 1, 1, 50))
            row = rng.randbytes(rng.randrange(1, 200))
            self.urls.add(key(self.made), self.made, row)
            self.now[key(self.made)] = (self.made, row, b"")
            return
        name = rng.choice(known)
        number, row, links = self.now[name]
        if kind == "u":
            row = rng.randbytes(rng.randrange(1, 200))
            self.urls.update({number: row})
        elif kind == "l":
            links = rng.randbytes(12 * rng.randrange(1, 9))
            self.urls.put_links(number, links)
        else:
            self.urls.delete(number)
            del self.now[name]
            if kind == "d":
                return
            name, links = key(number + 1_000_000), b""  # its number is given anew at once
            self.urls.add(name, number, row)
        self.now[name] = (number, row, links)

    def commit(self) -> None:
        self.commits.append((self.urls.write(), dict(self.now)))

    def grow(self, rng: random.Random, commits: int, steps: int) -> None:
        for _ in range(commits):
            for _ in range(rng.randrange(steps)):
                self.step(rng)
            self.commit()


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "SEGMENT_BYTES", 4000)
    monkeypatch.setattr(logs, "BATCH_BYTES", 1000)


@pytest.mark.usefixtures("small")
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32))
def test_every_commit_can_be_gone_back_to(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    """What a kill leaves, or a power cut: a commit's lengths, and files that went on since."""
    folder, rng = tmp_path_factory.mktemp("log"), random.Random(seed)  # noqa: S311
    crawl = Crawl(Urls(folder / "running"))
    (folder / "running").mkdir()
    crawl.grow(rng, 12, 40)
    assert told(crawl.urls) == crawl.now
    lengths, then = rng.choice(crawl.commits)
    cut = spoilt(folder / "running", NAME, lengths, rng)
    again = Urls(cut)
    again.open(lengths)
    again.log.clear()
    assert told(again) == then
    after = Crawl(again, then, made=10_000_000)
    after.grow(rng, 3, 40)
    assert told(again) == after.now
    last = after.commits[-1][0]
    again.log.close()
    third = Urls(cut)
    third.open(last)
    assert told(third) == after.now
    third.log.close()
    crawl.urls.log.close()


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("seed", range(3))
def test_the_log_stays_small_and_readers_follow(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311
    crawl, reader = Crawl(Urls(tmp_path)), Urls(tmp_path, readonly=True)
    for turn in range(120):
        crawl.grow(rng, 1, 60)
        crawl.urls.log.drop(crawl.urls.log.retired())
        if turn % 7 == 0:
            reader.open(crawl.commits[-1][0])
            assert told(reader) == crawl.now
            assert reader.find_many(list(crawl.now)) == [n for n, _, _ in crawl.now.values()]
            reader.log.drop(reader.log.retired())
    needed = sum(len(row) + len(links) + 40 for _, row, links in crawl.now.values())
    assert sum(segment.length for segment in crawl.urls.log.segments()) < 3 * needed + 8000
    assert len(list(tmp_path.iterdir())) == len(crawl.urls.log.segments())
    assert min(crawl.commits[-1][0]) > 5, "no segment was ever cleared"
    live = sum(segment.live for segment in crawl.urls.log.segments())
    again = Urls(tmp_path)
    again.open(crawl.commits[-1][0])
    assert live == sum(segment.live for segment in again.log.segments())
    again.log.close()
    reader.log.close()
    crawl.urls.log.close()


@pytest.mark.usefixtures("small")
def test_a_damaged_log_is_named(tmp_path: Path) -> None:
    crawl = Crawl(Urls(tmp_path))
    crawl.grow(random.Random(1), 6, 40)  # noqa: S311
    lengths = crawl.commits[-1][0]
    crawl.urls.log.close()
    number = min(lengths)
    path = tmp_path / logs.NAME.format(NAME, number)
    data = path.read_bytes()
    middle = lengths[number] // 2
    flipped = data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
    for spoil in (flipped, data[:middle], b"x" + data[1:], None):
        path.unlink()
        if spoil is not None:
            path.write_bytes(spoil)
        urls = Urls(tmp_path)
        with pytest.raises(StorageError, match=rf"{path.name}: .*damaged.*fresh=1"):
            urls.open(lengths)
        urls.log.close()
        path.write_bytes(data)


def test_one_record_is_not_larger_than_a_place_can_say(tmp_path: Path) -> None:
    urls = Urls(tmp_path)
    urls.add(key(1), 1, bytes(logs.LARGEST))
    lengths = urls.write()
    assert len(urls.get(1)) == logs.LARGEST
    urls.put(1, bytes(logs.LARGEST + 1))
    with pytest.raises(StorageError, match="at most"):
        urls.write()
    urls.log.close()
    again = Urls(tmp_path)
    again.open(lengths)
    assert len(again.get(1)) == logs.LARGEST
    again.log.close()
