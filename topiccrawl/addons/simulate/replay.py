"""Replay of a crawl over recorded pages, with the production parser, scorer, strategy and frontier.

Differences from a crawl: there is no network and no delay; responses arrive in the order of the
requests; a ``<meta>`` redirect is an ordinary link; failed pages are not retried; nothing is
extracted or stored; changes of the topic apply at once.
URLs that are not in the collection fail with status 404; links to hosts without a recorded page are
ignored, since a crawl spends no turn on a host whose robots.txt it cannot fetch.
"""

from __future__ import annotations

import random
import tempfile
from collections import deque
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.addons.simulate.collection import OK, RecordedPage, RecordedWeb, key
from topiccrawl.frontier.contract import Ending, Limits, Outcome, Politeness, Seed
from topiccrawl.frontier.embedded import EmbeddedFrontier
from topiccrawl.links.strategies.link_texts import is_paged
from topiccrawl.links.traps import TrapRules, trap
from topiccrawl.model import Kind, Lease, Offer, Page, Verdict
from topiccrawl.scheduler.build import topic_rules
from topiccrawl.scheduler.slow_start import SlowStart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.links.strategies import LinkStrategy
    from topiccrawl.topics import Scorer
    from topiccrawl.topics.contract import TopicAdapter
    from topiccrawl.topics.topic import Topic

PAGE_SECONDS = 0.01
"""Seconds per page on the replay's clock, which drives the maintenance of the frontier."""
SWEEP_PAGES = 10
"""Pages between two steps of a sweep: 0.1 s on the replay's clock, as in a crawl."""
SWEEP_RECORDS = 200
"""Number of records per step of a sweep, as in a crawl."""
MISSING = 404
"""HTTP status of URLs that were not recorded."""
MOST_REDIRECTS = 20
"""Maximum number of redirects per link."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """Conditions of a replay.

    Attributes:
        budget: Maximum number of fetched pages; failures do not count.
        batch: Number of concurrent requests.
        slow_start: Crawled pages for each further request at the start (``SlowStart``); 0: none.
        robots: Whether to obey the recorded robots.txt; hosts without one allow all URLs.
        limits: Limits of depth and pages per host.
        share: Pops of priorQueue and normalQueue in turn; None: the default of the strategy.
        traps: Thresholds of the trap rules; None disables them.
        seed: Seed of the frontier's random generator.
    """

    budget: int
    batch: int = 8
    slow_start: int = 0
    robots: bool = True
    limits: Limits = field(default_factory=Limits)
    share: tuple[int, int] | None = None
    traps: TrapRules | None = field(default_factory=TrapRules)
    seed: int = 1


class Replayed(NamedTuple):
    """Result of a replay.

    Attributes:
        fetched: Keys of the fetched pages, in order.
        failed: Number of URLs that failed.
        changes: Number of changes of the topic.
    """

    fetched: tuple[str, ...]
    failed: int
    changes: int


class Replay:
    """Replay of one topic on one collection with one strategy.

    Args:
        web: Recorded pages.
        topic: Topic with seeds and host rules.
        scorer: Scorer of pages; the strategy uses it for links.
        strategy: A new strategy, since replays modify it.
        conditions: Budget and other conditions.
        adapter: Adapts scorer and strategy during the crawl; None: no adaptation.
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
        self._is_allowed = cache(self._allows)  # the rules depend on the URL only
        self._now = 0.0
        self._failed = 0
        self._fetched: dict[str, None] = {}

    def run(self) -> Replayed:
        """Fetch pages until the budget is used up or the frontier is empty."""
        with (
            tempfile.TemporaryDirectory(prefix="topiccrawl-replay-") as folder,
            closing(self._open(folder)) as self._frontier,
        ):
            self._frontier.push([Seed(url) for url in self.topic.seeds])
            self._crawl()
        return Replayed(tuple(self._fetched), self._failed, self._changes)

    def _open(self, folder: str) -> EmbeddedFrontier:
        conditions = self.conditions
        politeness = Politeness(
            delay=0.0,
            jitter=0.0,
            concurrency=conditions.batch,
            adaptive=False,
            robots=conditions.robots,
        )
        return EmbeddedFrontier(
            folder, self.strategy, politeness, conditions.limits, clock=lambda: self._now,
            rng=random.Random(conditions.seed), share=conditions.share, sync="never",  # noqa: S311
        )  # fmt: skip

    def _crawl(self) -> None:
        in_flight: deque[Lease] = deque()
        start = SlowStart(self.conditions.slow_start)
        settled = 0
        while len(self._fetched) < self.conditions.budget:
            while (
                len(in_flight) < self.conditions.batch
                and start.allows(sum(bool(lease.evidence) for lease in in_flight))
                and (leases := self._frontier.pop(1))
            ):
                in_flight.append(leases[0])
            if not in_flight:
                return
            if self._settle(in_flight.popleft()):
                start.count()
            settled += 1
            self._now += PAGE_SECONDS
            if settled % SWEEP_PAGES == 0:
                self._frontier.sweep(SWEEP_RECORDS)

    def _settle(self, lease: Lease) -> bool:
        """Settle a lease by the recorded response; return whether a page was crawled."""
        found = self.web.get(lease.url)
        if lease.kind is Kind.ROBOTS:
            body, status = (found.body, found.status) if found else (b"", MISSING)
            self._frontier.robots(lease, body, status)
            return False
        if found is not None and found.status == OK:
            outcome, offers = self._read(lease)
        else:
            outcome, offers = self._outcome_without_page(lease, found), ()
        self._failed += outcome.ending is Ending.ERROR
        self._frontier.finish(lease, outcome, offers)
        return outcome.ending is Ending.CRAWLED

    def _read(self, lease: Lease) -> tuple[Outcome, Sequence[Offer]]:
        """Score a page and its links, as the topic spider does."""
        name = key(lease.url)
        self._fetched.setdefault(name)
        page = self.web.page(name)
        if page is None:
            return Outcome(Ending.CRAWLED), ()
        verdict = self._scorer.score_page(page).for_links
        self._scorer.observe(page)
        self._learn(page, verdict)
        self.strategy.learn(lease.anchor, lease.context, verdict.relevance)
        self.strategy.reached(lease.evidence, verdict.relevance)
        offers = self.strategy.offers(verdict, lease.evidence, page.links)
        worth = self.strategy.worth(verdict.relevance)
        paged = is_paged(page.url, page.links)
        outcome = Outcome(Ending.CRAWLED, "", verdict.relevance, worth, paged=paged)
        return outcome, [offer for offer in offers if self._is_allowed(offer.url)]

    def _learn(self, page: Page, verdict: Verdict) -> None:
        """Pass a page to the adapter, and apply a change of the topic when due."""
        if self._adapter is None:
            return
        self._adapter.learn(page, verdict)
        if change := self._adapter.adapt():
            self._changes += 1
            self._adapter.apply(self._changes, change)
            self._scorer = self._adapter.scorer

    def _outcome_without_page(self, lease: Lease, found: RecordedPage | None) -> Outcome:
        """Return the outcome of a URL without a page: a redirect or an error."""
        target = found.target if found else None
        if target is None:
            return Outcome(Ending.ERROR, reason=f"http-{found.status if found else MISSING}")
        if target == lease.url or lease.redirects >= MOST_REDIRECTS:
            return Outcome(Ending.ERROR, reason="max-redirects")
        if reason := self._hosts.refuse(target):
            return Outcome(Ending.ERROR, reason=reason)
        return Outcome(Ending.REDIRECTED, target=target, redirects=lease.redirects + 1)

    def _allows(self, url: str) -> bool:
        """Return whether a link is allowed."""
        if key(url).partition("/")[0] not in self.web.hosts:
            return False
        traps = self.conditions.traps
        return not (self._hosts.refuse(url) or (traps and trap(url, traps)))
