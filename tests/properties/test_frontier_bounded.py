"""State machine tests of a frontier with eviction, which chooses only the evicted records."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import invariant, rule
from typing_extensions import override

from tests.contracts.model import Model
from tests.properties.test_frontier_machine import (
    FrontierMachine,
    SharedMachine,
    _client,  # noqa: F401 - a fixture
    eighths,
    offers,
    outcomes,
    urls,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.contracts.model_parts import Entry
    from topiccrawl.frontier.contract import Outcome
    from topiccrawl.model import Offer

MOST = 9


@dataclass
class Eviction(Model):
    """Model that is updated with the evicted URLs."""

    seen: set[str] = field(default_factory=set)

    def is_evicted(self, url: str) -> bool:
        return url in self.seen and url not in self.entries

    @override
    def push(self, url: str, value: float = 1.0) -> bool:
        return not self.is_evicted(url) and super().push(url, value)

    @override
    def links(self, parent: Entry, offers: Sequence[Offer]) -> None:
        super().links(parent, [offer for offer in offers if not self.is_evicted(offer.url)])

    @override
    def requeue(self, url: str, value: float | None = None) -> bool:
        if self.is_evicted(url):
            return super().push(url, 1.0 if value is None else value)
        return super().requeue(url, value)

    @override
    def _redirect(self, entry: Entry, outcome: Outcome) -> None:
        if self.is_evicted(outcome.target):
            entry.state, entry.reason = "crawled", "redirected"
        else:
            super()._redirect(entry, outcome)

    def evict(self, url: str) -> None:
        del self.entries[url]
        self.children.pop(url, None)


class BoundedMachine(FrontierMachine):
    model: Eviction

    @override
    def open(self) -> None:
        if not self.limits.max_known:
            self.limits = replace(self.limits, max_known=MOST, seen_error=1e-6)
            self.model = Eviction(self.strategy, self.politeness, self.limits, 1000.0)
        super().open()

    @invariant()
    def agree(self) -> None:  # runs before the others, which follow in the alphabet
        for url, entry in list(self.model.entries.items()):
            found = self.frontier.why(url)
            if found is None:
                assert entry.state == "low"
                self.model.evict(url)
            elif found.queue == "seen":
                assert entry.state in {"crawled", "error"}
                self.model.seen.add(url)
                self.model.evict(url)

    @rule(new=st.lists(urls, min_size=1, max_size=4), value=eighths)
    @override
    def push(self, new: list[str], value: float) -> None:
        for url in new:
            super().push([url], value)
            self.agree()
        sizes = self.model.counts()
        assert sizes["known"] <= MOST or not sizes["crawled"] + sizes["error"]

    @rule(data=st.data(), outcome=outcomes, links=offers)
    @override
    def finish(self, data: st.DataObject, outcome: Outcome, links: list[Offer]) -> None:
        super().finish(data, outcome, links, first=False)

    @rule()
    @override
    def sweep(self) -> None:
        while self.frontier.sweep(7):
            self.agree()
        super().sweep()


class SharedBoundedMachine(BoundedMachine, SharedMachine):
    """The same machine over Redis."""


TestBounded = BoundedMachine.TestCase
TestBounded.settings = settings(max_examples=30, stateful_step_count=50)
TestSharedBounded = SharedBoundedMachine.TestCase
TestSharedBounded.settings = settings(TestBounded.settings, max_examples=8)
