"""State machine tests: the frontier behaves as the reference model, in the same order."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import hypothesis.strategies as st
import pytest
import redis
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from typing_extensions import override

from tests.contracts.lines import from_line, recount
from tests.contracts.model import Model
from tests.contracts.model_parts import Site
from tests.contracts.strategies import Best
from topiccrawl.addons.queue_admin.export import to_line
from topiccrawl.addons.redis.frontier import TTL, SharedFrontier, discard
from topiccrawl.addons.redis.host_turns import REGISTER
from topiccrawl.addons.redis.membership import CRASH_WAIT
from topiccrawl.frontier.contract import Download, Ending, Limits, Outcome, Politeness, Seed
from topiccrawl.frontier.embedded import EmbeddedFrontier
from topiccrawl.links.strategies.contract import LEARNT
from topiccrawl.model import Kind, Lease, Offer

if TYPE_CHECKING:
    from collections.abc import Iterator

PATHS = ("/", "/1", "/a/1", "/a/2", "/a/b/1", "/b/1", "/no/1", "/no/2")
ORIGINS = ("http://x.cn", "https://x.cn", "http://y.cn", "http://z.cn:81")
URLS = [origin + path for origin in ORIGINS for path in PATHS]
ANSWERS = ((200, ""), (200, ""), (404, ""), (0, ""), (0, "cannot-resolve-host"))
"""Status of a robots.txt, and the cause if there was no answer."""
urls = st.sampled_from(URLS)
eighths = st.integers(0, 8).map(lambda n: n / 8)
offers = st.lists(
    st.builds(
        Offer,
        url=urls,
        lane=st.sampled_from([0, 1, 1, 2]),
        evidence=st.tuples(eighths, st.just(0.0)),
        anchor=st.sampled_from(["", "a", "ab", "新闻"]),
        context=st.sampled_from(["", "c"]),
    ),
    max_size=12,
)
outcomes = st.one_of(
    st.sampled_from(
        [
            *(Outcome(Ending.CRAWLED, relevance=relevance) for relevance in (0.0, 0.5, 1.0)),
            Outcome(Ending.CRAWLED, relevance=1.0, paged=True),
        ]
    ),
    st.just(Outcome(Ending.ERROR, "http-404")),
    st.just(Outcome(Ending.RELEASED)),
    st.tuples(urls, st.integers(1, 3)).map(
        lambda to: Outcome(Ending.REDIRECTED, target=to[0], redirects=to[1])
    ),
)
bools = st.booleans()


class FrontierMachine(RuleBasedStateMachine):
    frontier: EmbeddedFrontier | SharedFrontier

    @initialize(
        obey=bools,
        concurrency=st.integers(1, 3),
        delay=st.sampled_from([0.0, 1.0]),
        depth=st.sampled_from([0, 2]),
        pages=st.sampled_from([0, 4]),
        share=st.sampled_from([(1, 1), (2, 1), (1, 0)]),
    )
    def start(
        self,
        obey: bool,  # noqa: FBT001
        concurrency: int,
        delay: float,
        depth: int,
        pages: int,
        share: tuple[int, int],
    ) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="frontier-"))
        self.strategy = Best()
        self.strategy.share = share
        self.politeness = Politeness(
            delay=delay, jitter=0.0, concurrency=concurrency, adaptive=False, robots=obey,
            robots_ttl=40.0,
        )  # fmt: skip
        self.limits = Limits(
            max_depth=depth, max_host_pages=pages, max_attempts=3, max_crashes=2, lease_seconds=30
        )
        self.model = Model(self.strategy, self.politeness, self.limits, 1000.0)
        self.swept = self.strategy.version % LEARNT
        self.out: list[Lease] = []
        self.settled: list[Lease] = []
        self.open()

    def open(self) -> None:
        self.frontier = EmbeddedFrontier(
            self.folder, self.strategy, self.politeness, self.limits,
            clock=lambda: self.model.now, sync="never",
        )  # fmt: skip

    def kill(self) -> None:
        """Abandon the frontier as a killed process does."""
        self.frontier.abandon()

    def remove(self) -> None:
        """Delete the closed frontier."""
        shutil.rmtree(self.folder)

    def pages(self) -> list[Lease]:
        held = self.model.entries
        return [lease for lease in self.out if lease.url in held and lease.kind is Kind.PAGE]

    def some_pages(self) -> list[Lease]:
        """Leases of pages; created if there are none, as most examples leave out some rules."""
        for url in URLS[:: len(PATHS)]:
            if not self.pages():
                self.push([url, url + "1"], 1.0)
                self.pop(3)
                for lease in [lease for lease in self.out if lease.kind is Kind.ROBOTS]:
                    self.settle_robots(lease, 200)
                    self.pop(1)
        return self.pages()

    def drop(self, lease: Lease) -> None:
        self.out.remove(lease)
        self.settled.append(lease)

    @rule(new=st.lists(urls, min_size=1, max_size=4), value=eighths)
    def push(self, new: list[str], value: float) -> None:
        expected = sum([self.model.push(url, value) for url in new])
        assert self.frontier.push([Seed(url, value) for url in new]) == expected

    @rule(n=st.integers(1, 6))
    def pop(self, n: int) -> None:
        self.forget_expired()
        leases = self.frontier.pop(n)
        assert [(x.url, x.kind, x.value) for x in leases] == self.model.pop(n)
        for lease in leases:
            if lease.kind is Kind.PAGE:
                entry = self.model.entries[lease.url]
                fields = (lease.depth, lease.attempts, lease.redirects, lease.evidence, lease.lane)
                assert fields == (
                    entry.depth, entry.attempts, entry.redirects, entry.evidence, entry.lane
                )  # fmt: skip
        self.out += leases

    def forget_expired(self) -> None:
        for lease in list(self.out):
            if lease.expires <= self.model.now:
                self.drop(lease)

    @rule(data=st.data(), outcome=outcomes, links=offers, first=bools)
    def finish(
        self,
        data: st.DataObject,
        outcome: Outcome,
        links: list[Offer],
        first: bool,  # noqa: FBT001
    ) -> None:
        if pages := self.some_pages():
            lease = data.draw(st.sampled_from(pages))
            if first:
                self.frontier.downloaded(lease, Download(200, 0.125))
                self.model.downloaded(lease.url, 0.125)
            assert self.frontier.finish(lease, outcome, links)
            self.model.finish(lease.url, outcome, links)
            self.drop(lease)

    @rule(data=st.data(), wait=st.sampled_from([0.0, 1.0, 5.0]), links=offers)
    def later(self, data: st.DataObject, wait: float, links: list[Offer]) -> None:
        outcome = Outcome(Ending.LATER, "timeout", not_before=self.model.now + wait)
        if pages := self.some_pages():
            lease = data.draw(st.sampled_from(pages))
            assert self.frontier.finish(lease, outcome, links)
            self.model.finish(lease.url, outcome, links)
            self.drop(lease)

    @rule(data=st.data(), answer=st.sampled_from(ANSWERS))
    def robots(self, data: st.DataObject, answer: tuple[int, str]) -> None:
        if asked := [lease for lease in self.out if lease.kind is Kind.ROBOTS]:
            self.settle_robots(data.draw(st.sampled_from(asked)), *answer)

    def settle_robots(self, lease: Lease, status: int, cause: str = "") -> None:
        body = b"User-agent: *\nDisallow: /no" if status == 200 else None
        self.frontier.robots(lease, body, status, cause)
        self.model.robots(lease.url, status, cause)
        self.drop(lease)

    @rule(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        if pages := self.pages():
            lease = data.draw(st.sampled_from(pages))
            self.frontier.begin(lease)
            self.model.begun.add(lease.url)

    @rule(data=st.data())
    def stale(self, data: st.DataObject) -> None:
        if self.settled:
            lease = data.draw(st.sampled_from(self.settled))
            assert not self.frontier.finish(lease, Outcome(Ending.CRAWLED))

    @rule(seconds=st.sampled_from([0.0, 0.05, 0.5, 1.0, 1.0, 5.0, 31.0]))
    def wait(self, seconds: float) -> None:
        self.model.now += seconds
        self.model.expire()
        self.frontier.pop(0)
        self.forget_expired()

    @rule()
    def retopic(self) -> None:
        self.strategy.version += 1

    @rule()
    def learn(self) -> None:
        self.strategy.version = (self.strategy.version + LEARNT) % 2**32

    @rule()
    def sweep(self) -> None:
        while self.frontier.sweep(7):
            pass
        topic = self.strategy.version % LEARNT
        if topic == self.swept:
            return
        self.swept = topic
        for entry in self.model.entries.values():
            if entry.state in {"queued", "leased", "low"} and self.model.rescore(entry):
                self.model.judge(entry, entry.lane)

    @rule()
    def reopen(self) -> None:
        self.frontier.close()
        self.model.release_all()
        self.settled += self.out
        self.out = []
        self.open()

    @rule(url=urls, value=st.none() | st.sampled_from((0.25, 1.0)))
    def requeue(self, url: str, value: float | None) -> None:
        assert self.frontier.requeue(url, value) == self.model.requeue(url, value)

    @rule(url=urls)
    def forget(self, url: str) -> None:
        assert self.frontier.forget(url) == self.model.forget(url)
        for lease in [lease for lease in self.out if (lease.url, lease.kind) == (url, Kind.PAGE)]:
            self.drop(lease)

    @rule()
    def move(self) -> None:
        """Continue the crawl in another folder."""
        lines = [to_line(entry) for entry in self.frontier.export()]
        self.frontier.close()
        self.remove()
        self.model.release_all()
        self.model.moved()
        self.out.clear()
        self.settled.clear()
        self.open()
        assert self.frontier.load(map(from_line, lines)) == len(self.model.entries)

    @rule()
    def die(self) -> None:
        self.frontier.commit()
        self.kill()
        self.model.crash()
        self.settled += self.out
        self.out = []
        self.open()

    @invariant()
    def same_sizes(self) -> None:
        counts = self.frontier.counts()
        sizes = self.model.counts()
        assert {name: counts[name] for name in sizes} == sizes
        reasons = {name: n for name, n in counts.items() if name.startswith("error/")}
        assert reasons == self.model.reasons()
        assert self.frontier.pending() == any(
            (sizes["prior"], sizes["normal"], sizes["leased"], self.model.robots_out)
        )

    @invariant()
    def due_in_time(self) -> None:
        due = self.frontier.next_due()
        now = self.model.now
        if due is None:
            assert not self.model.available(now + 1e6)
        elif due > 0:
            assert not self.model.available(now + due * 0.999)

    @override
    def teardown(self) -> None:
        if hasattr(self, "frontier"):
            try:
                self.compare()
                self.frontier.close()
                self.remove()
            finally:
                shutil.rmtree(self.folder, ignore_errors=True)

    def compare(self) -> None:
        """Compare all that is stored with the model."""
        self.frontier.commit()
        sizes = recount(self.frontier.view)
        assert sizes == self.model.counts()
        for entry in self.model.entries.values():
            found = self.frontier.why(entry.url)
            assert found is not None
            assert (found.inlinks, found.depth) == (entry.inlinks, entry.depth)
            assert tuple(found.evidence.values()) == entry.evidence


class SharedMachine(FrontierMachine):
    """The same machine over Redis."""

    client: redis.Redis

    @override
    def open(self) -> None:
        self.model.crash_wait = CRASH_WAIT * TTL
        self.frontier = SharedFrontier(
            self.client, self.folder.name, self.folder, self.strategy, self.politeness, self.limits,
            clock=lambda: self.model.now,
        )  # fmt: skip

    @override
    def kill(self) -> None:
        """Abandon the frontier as a killed process does; requests may have been sent until now."""
        assert isinstance(self.frontier, SharedFrontier)
        member, registry = self.frontier.membership, self.frontier.local.registry
        for name in {urlsplit(url).hostname or "" for url in URLS}:
            if registry.find_host(name):
                site = self.model.sites.setdefault(name, Site())
                site.next_at = max(site.next_at, self.model.now + self.politeness.delay)
        super().kill()
        self.client.zadd(f"{member.base}nodes", {str(member.epoch): 0})  # long ago
        self.client.zadd(f"{REGISTER}nodes", {f"{member.base}{member.epoch}": 0})

    @override
    def remove(self) -> None:
        discard(self.client, self.folder.name)
        self.client.flushdb()  # times of hosts in the register


@pytest.fixture(scope="module", autouse=True)
def _client(redis_server: str) -> Iterator[None]:
    """Client of the machines over Redis; active in each module that imports it."""
    with redis.Redis.from_url(redis_server) as client:
        SharedMachine.client = client
        yield


TestFrontier = FrontierMachine.TestCase
TestFrontier.settings = settings(max_examples=80, stateful_step_count=50)
TestSharedFrontier = SharedMachine.TestCase
TestSharedFrontier.settings = settings(TestFrontier.settings, max_examples=20)
