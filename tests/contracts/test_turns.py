"""Tests of several crawls on one host: one at a time, one clock, a turn for each."""

from __future__ import annotations

import random
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import redis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.contracts.conftest import QUICK, Clock
from tests.contracts.strategies import Plain
from tests.laws import BUSY
from topiccrawl.addons.redis.frontier import SharedFrontier
from topiccrawl.addons.redis.host_turns import REGISTER, SLICE
from topiccrawl.frontier.contract import Download, Ending, Limits, Outcome, Seed
from topiccrawl.model import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from topiccrawl.model import Lease

CRAWLED = Outcome(Ending.CRAWLED)
OK = Download(200)
POLITE = replace(QUICK, delay=1.0, concurrency=1)


def send_now(crawl: SharedFrontier) -> None:
    """Make the next message of turns due now, with all delayed content."""
    crawl.turns._next_message = crawl.turns._next_retry = 0.0


class Crawls:
    """Crawls in one process, on one clock and one register."""

    def __init__(self, client: redis.Redis, folder: Path) -> None:
        self.client, self.folder = client, folder
        self.clock = Clock()
        self.opened: dict[str, SharedFrontier] = {}

    def begin(self, name: str, *urls: str) -> SharedFrontier:
        crawl = SharedFrontier(
            self.client, name, self.folder / name, Plain(), POLITE, Limits(), clock=self.clock,
        )  # fmt: skip
        self.opened[name] = crawl
        crawl.push([Seed(url) for url in urls])
        return crawl

    def exchange(self, rounds: int = 3) -> None:
        """Exchange the turns and batches of all crawls."""
        for _ in range(rounds):
            for crawl in self.opened.values():
                send_now(crawl)
                crawl.settle()

    def time_out(self, crawl: SharedFrontier) -> None:
        """Let the registration of the crawl's node expire."""
        self.client.zadd(f"{REGISTER}nodes", {f"{crawl.base}{crawl.membership.epoch}": 0})

    def kill(self, name: str) -> None:
        crawl = self.opened.pop(name)
        crawl.abandon()
        self.time_out(crawl)

    def end(self) -> None:
        for crawl in self.opened.values():
            crawl.close()
        for key in self.client.scan_iter("{topiccrawl*"):
            self.client.delete(key)


@pytest.fixture
def crawls(redis_url: str, tmp_path: Path) -> Iterator[Crawls]:
    with redis.Redis.from_url(redis_url) as client:
        made = Crawls(client, tmp_path)
        yield made
        made.end()


def pages(host: str, n: int) -> list[str]:
    return [f"http://{host}/{number}" for number in range(n)]


def done(crawl: SharedFrontier, lease: Lease) -> None:
    crawl.downloaded(lease, OK)
    crawl.finish(lease, CRAWLED)


def test_host_has_one_crawl_at_a_time_and_one_clock(crawls: Crawls) -> None:
    one, two = crawls.begin("one", *pages("a.cn", 9)), crawls.begin("two", *pages("a.cn", 9))
    (lease,) = one.pop(9)
    crawls.exchange()
    assert two.pop(9) == []
    crawls.clock += SLICE
    crawls.exchange()
    assert two.pop(9) == [], "a request is in flight there"
    done(one, lease)
    crawls.exchange()
    assert one.pop(9) == [], "it is the other's turn"
    (lease,) = two.pop(9)
    crawls.clock += SLICE
    two.downloaded(lease, Download(200, 0.0))  # it left late
    two.finish(lease, CRAWLED)
    crawls.exchange()
    assert one.pop(9) == [], "just asked by the other"
    crawls.clock += 1.0
    assert len(one.pop(9)) == 1


def test_host_of_a_single_crawl_needs_no_turn(crawls: Crawls) -> None:
    one = crawls.begin("one", *pages("a.cn", 2), *pages("b.cn", 2))
    two = crawls.begin("two", *pages("c.cn", 2), *pages("a.cn", 2))
    assert {lease.url for lease in one.pop(9)} == {"http://a.cn/0", "http://b.cn/0"}
    assert {lease.url for lease in two.pop(9)} == {"http://c.cn/0"}


def test_unused_turn_is_passed_on_early(crawls: Crawls) -> None:
    one, two = crawls.begin("one", *pages("a.cn", 1)), crawls.begin("two", *pages("a.cn", 1))
    (lease,) = one.pop(9)
    done(one, lease)
    assert two.pop(9) == []
    crawls.clock += 1.0
    crawls.exchange()
    assert len(two.pop(9)) == 1


def test_turn_of_a_killed_crawl_passes_after_the_delay(crawls: Crawls) -> None:
    one, two = crawls.begin("one", *pages("a.cn", 9)), crawls.begin("two", *pages("a.cn", 9))
    assert len(one.pop(9)) == 1
    assert two.pop(9) == []
    crawls.kill("one")
    crawls.exchange()
    assert two.pop(9) == []
    crawls.clock += 1.0
    assert len(two.pop(9)) == 1


def test_stopped_node_serves_no_host_that_another_node_took(crawls: Crawls) -> None:
    one = crawls.begin("one", *pages("a.cn", 9), *pages("b.cn", 9))
    two = crawls.begin("two", *pages("a.cn", 9))
    for lease in one.pop(9):
        done(one, lease)
    assert two.pop(9) == []
    crawls.time_out(one)
    send_now(two)
    two.settle()
    crawls.clock += 2.0
    assert [lease.url for lease in two.pop(9)] == ["http://a.cn/0"]
    send_now(one)
    one.settle()
    crawls.clock += 20.0
    assert [lease.url for lease in one.pop(9)] == ["http://b.cn/1"]


def test_ended_crawl_returns_its_turns_and_clocks(crawls: Crawls) -> None:
    one, two = crawls.begin("one", *pages("a.cn", 9)), crawls.begin("two", *pages("a.cn", 9))
    (lease,) = one.pop(9)
    one.downloaded(lease, Download(503, 0.0, 7.0))
    assert two.pop(9) == []
    crawls.opened.pop("one").close()
    crawls.exchange()
    crawls.clock += 6.9
    assert two.pop(9) == []
    crawls.clock += 0.2
    assert len(two.pop(9)) == 1
    two.close()
    left = {key.decode() for key in crawls.client.scan_iter(f"{REGISTER}*")}
    assert left <= {f"{REGISTER}clocks"}


@settings(max_examples=6, suppress_health_check=[BUSY, HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 1 << 32), crowd=st.integers(2, 3))
def test_crawls_share_hosts_one_at_a_time_and_all_finish(
    redis_url: str, tmp_path_factory: pytest.TempPathFactory, seed: int, crowd: int
) -> None:
    rng = random.Random(seed)  # noqa: S311
    with ExitStack() as stack:
        client = stack.enter_context(redis.Redis.from_url(redis_url))
        crawls = Crawls(client, tmp_path_factory.mktemp("turns"))
        stack.callback(crawls.end)
        names = ["one", "two", "three"][:crowd]
        urls = [*pages("a.cn", 4), *pages("b.cn", 4)]
        for name in names:
            crawls.begin(name, *urls)
        out: dict[str, tuple[str, Lease]] = {}
        asked: dict[str, float] = {}
        fetched: dict[str, set[str]] = {name: set() for name in names}
        while not all(seen == set(urls) for seen in fetched.values()):
            crawls.clock += rng.choice([0.1, 0.4, 1.0])
            name = rng.choice(names)
            crawl = crawls.opened[name]
            send_now(crawl)
            crawl._exchange(look=False)
            for lease in crawl.pop(2):
                assert lease.kind is Kind.PAGE
                host = lease.url.split("/")[2]
                assert host not in out, "another is there"
                assert crawls.clock.now - asked.get(host, 0.0) > 0.999
                out[host], asked[host] = (name, lease), crawls.clock.now
            for host, (owner, lease) in list(out.items()):
                if rng.random() < 0.5:
                    del out[host]
                    done(crawls.opened[owner], lease)
                    fetched[owner].add(lease.url)
            assert crawls.clock.now < 1_000_000.0 + 24 * crowd * SLICE, fetched
