"""A crawl over recorded pages: production parser, scorer, strategy, link rules and frontier.

What differs from a crawl: there is no network and no waiting; several requests are in flight, but
answers come back in the order of the requests; a redirect by ``<meta>`` is a link like others; a
failed page is not tried again; nothing is extracted or stored. URLs that the collection does not
hold fail, as they do where it is served.
"""

from __future__ import annotations

import random
import tempfile
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.addons.simulate.collection import OK, Recorded, RecordedWeb, key
from topiccrawl.frontier.contract import Ending, Limits, Outcome, Politeness, Seed
from topiccrawl.frontier.embedded import EmbeddedFrontier
from topiccrawl.links.traps import TrapRules, trap
from topiccrawl.model import Kind, Lease, Offer, Page, Verdict
from topiccrawl.scheduler.build import topic_rules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.links.strategies import LinkStrategy
    from topiccrawl.topics import Scorer
    from topiccrawl.topics.adapter import TopicAdapter
    from topiccrawl.topics.topic import Topic

PAGE_SECONDS = 0.01
"""Seconds of a page on the replay's clock, which paces the frontier's housekeeping."""
SWEEP_PAGES = 10
"""Pages between two sweeps after a change of the topic: a tenth of a second, as in a crawl."""
SWEEP = 200
"""Records of a sweep, as in a crawl."""
MISSING = 404
"""Status of what was not recorded."""
MOST_REDIRECTS = 20
"""Redirects followed from one link."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """Conditions of a replay.

    Attributes:
        budget: Maximum of pages fetched; failures do not count.
        batch: Requests in flight.
        robots: Obey the recorded robots.txt; a host without one allows all.
        limits: Bounds on depth and pages a host.
        share: Pops of priorQueue and normalQueue; None: the strategy's.
        traps: Thresholds of the trap rules; None switches them off.
        seed: Seed of the frontier's random generator.
    """

    budget: int
    batch: int = 8
    robots: bool = True
    limits: Limits = field(default_factory=Limits)
    share: tuple[int, int] | None = None
    traps: TrapRules | None = field(default_factory=TrapRules)
    seed: int = 1


class Replayed(NamedTuple):
    """Result of a replay.

    Attributes:
        fetched: Keys of the pages, in the order in which they were fetched.
        failed: URLs that brought no page.
        changes: Changes of the topic.
    """

    fetched: tuple[str, ...]
    failed: int
    changes: int


class Replay:
    """One replay: a web, a topic's scorer, a strategy of its own.

    Args:
        web: What there is.
        topic: Gives seeds and host rules.
        scorer: Judges pages; the strategy scores links with it.
        strategy: Fresh; a replay may change it.
        conditions: Budget and the like.
        adapter: Changes scorer and strategy as the topic learns; None: it learns nothing.
    """

    def __init__(
        self,
        web: RecordedWeb,
        topic: Topic,
        scorer: Scorer,
        strategy: LinkStrategy,
        conditions: Conditions,
        adapter: TopicAdapter | None = None,
    ) -> None:
        self.web = web
        self.topic = topic
        self.strategy = strategy
        self.conditions = conditions
        self._scorer = scorer
        self._adapter = adapter
        self._changes = 0
        self._hosts = topic_rules(topic)
        self._wanted: dict[str, bool] = {}
        self._now = 0.0
        self._failed = 0
        self._fetched: dict[str, None] = {}

    def run(self) -> Replayed:
        """Fetch until the budget is used up or nothing is left."""
        with tempfile.TemporaryDirectory(prefix="topiccrawl-replay-") as folder:
            self._frontier = self._open(folder)
            try:
                self._frontier.push([Seed(url) for url in self.topic.seeds])
                self._work()
            finally:
                self._frontier.close()
        return Replayed(tuple(self._fetched), self._failed, self._changes)

    def _open(self, folder: str) -> EmbeddedFrontier:
        given = self.conditions
        politeness = Politeness(
            delay=0.0, jitter=0.0, concurrency=given.batch, adaptive=False, robots=given.robots
        )
        return EmbeddedFrontier(
            folder, self.strategy, politeness, given.limits, clock=lambda: self._now,
            rng=random.Random(given.seed), share=given.share, sync="never",  # noqa: S311
        )  # fmt: skip

    def _work(self) -> None:
        flying: deque[Lease] = deque()
        settled = 0
        while len(self._fetched) < self.conditions.budget:
            self._fill(flying)
            if not flying:
                return
            self._settle(flying.popleft())
            settled += 1
            self._now += PAGE_SECONDS
            if settled % SWEEP_PAGES == 0:
                self._frontier.sweep(SWEEP)

    def _fill(self, flying: deque[Lease]) -> None:
        """Take leases until enough are in flight."""
        while len(flying) < self.conditions.batch and (leases := self._frontier.pop(1)):
            flying.append(leases[0])

    def _settle(self, lease: Lease) -> None:
        found = self.web.get(lease.url)
        if lease.kind is Kind.ROBOTS:
            body, status = (found.body, found.status) if found else (b"", MISSING)
            self._frontier.robots(lease, body, status)
            return
        if found is not None and found.status == OK:
            outcome, offers = self._read(lease)
        else:
            outcome, offers = self._elsewhere(lease, found), ()
        self._failed += outcome.ending is Ending.ERROR
        self._frontier.finish(lease, outcome, offers)

    def _read(self, lease: Lease) -> tuple[Outcome, Sequence[Offer]]:
        """Judge a page and score its links, as the topic spider does."""
        name = key(lease.url)
        self._fetched.setdefault(name)
        page = self.web.page(name)
        if page is None:
            return Outcome(Ending.CRAWLED), ()
        verdict = self._scorer.score_page(page)
        self._learn(page, verdict)
        self.strategy.learn(lease.anchor, lease.context, verdict.relevance)
        self.strategy.reached(lease.evidence, verdict.relevance)
        offers = self.strategy.offers(verdict, lease.evidence, page.links)
        worth = self.strategy.worth(verdict.relevance)
        outcome = Outcome(Ending.CRAWLED, relevance=verdict.relevance, worth=worth)
        return outcome, [offer for offer in offers if self._wants(offer.url)]

    def _learn(self, page: Page, verdict: Verdict) -> None:
        """Learn a page, and change the topic when it is time; nothing is stored."""
        if self._adapter is None:
            return
        self._adapter.learn(page, verdict)
        if change := self._adapter.adapt():
            self._changes += 1
            self._adapter.apply(self._changes, change)
            self._scorer = self._adapter.scorer

    def _elsewhere(self, lease: Lease, found: Recorded | None) -> Outcome:
        """Return the outcome of a URL without a page: a redirect is followed, all else failed."""
        target = found.target if found else None
        if target is None:
            return Outcome(Ending.ERROR, reason=f"http-{found.status if found else MISSING}")
        if target == lease.url or lease.redirects >= MOST_REDIRECTS:
            return Outcome(Ending.ERROR, reason="max-redirects")
        if reason := self._hosts.refuse(target):
            return Outcome(Ending.ERROR, reason=reason)
        return Outcome(Ending.REDIRECTED, target=target, redirects=lease.redirects + 1)

    def _wants(self, url: str) -> bool:
        """Return whether no rule refuses a link; cached, as rules depend on the URL alone."""
        wanted = self._wanted.get(url)
        if wanted is None:
            traps = self.conditions.traps
            refused = self._hosts.refuse(url) or (trap(url, traps) if traps else None)
            wanted = self._wanted[url] = refused is None
        return wanted
