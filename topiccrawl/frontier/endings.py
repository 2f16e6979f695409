"""What becomes of a lease: its outcome, its host's clock, its return."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.frontier.contract import Ending
from topiccrawl.frontier.marks import Marks
from topiccrawl.frontier.rows import COUNTED, DELAYED, QUEUED, REASON, REDIRECTED, decode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.frontier.contract import Download, Lease, Limits, Outcome
    from topiccrawl.frontier.held import Held
    from topiccrawl.frontier.marks import Marking
    from topiccrawl.frontier.offers import Intake
    from topiccrawl.frontier.places import Origin
    from topiccrawl.frontier.rows import Row
    from topiccrawl.frontier.state import State
    from topiccrawl.model import Offer

ALL_ALLOWED = range(300, 500)
CRAWLED = Ending.CRAWLED
"""Looked up here once: members of an enumeration are slow to find."""
EXPIRED = "lease-expired"
RULES = range(200, 300)


class Endings:
    """Ends leases.

    Args:
        state: The frontier's open state.
        intake: Takes links and redirect targets.
        limits: For attempts.

    Attributes:
        marks: Pages being processed.
    """

    def __init__(self, state: State, intake: Intake, limits: Limits) -> None:
        self._state = state
        self._intake = intake
        self._max_attempts = limits.max_attempts
        self.marks: Marking = Marks(state.store.path / "begun")

    def finish(self, lease: Lease, outcome: Outcome, offers: Sequence[Offer], now: float) -> bool:
        """Settle a lease and its links; False where it is stale."""
        state, key = self._state, lease.key
        held = state.leases.find(lease)
        if held is None:
            state.tally["stale"] += 1
            return False
        if held.origin is not None:
            self._settle_robots(held.origin, held, key, outcome, now)
            return True
        row, host = self.let_go(key, held), held.host
        again = row.flags & COUNTED
        if offers:
            state.tally["links"] += self._intake.links(row, key, offers)
        self._end(row, key, outcome, now)
        if row.state != QUEUED:
            host.pages += not again
            state.places.keep(host)
        state.ready.settle(host, now)
        return True

    def downloaded(self, lease: Lease, download: Download, now: float) -> None:
        """Free the host's slot and learn from the answer, once."""
        held = self._state.leases.find(lease)
        if held is not None and held.slot:
            self._free(held)
            self._state.clock.end(held.host, download, now)
            self._state.places.changed(held.host)
            self._state.ready.settle(held.host, now)

    def robots(self, lease: Lease, body: bytes | None, status: int, cause: str, now: float) -> None:
        """Settle a robots lease with its answer; a stale one is ignored and counted."""
        held = self._state.leases.find(lease)
        if held is None or held.origin is None:
            self._state.tally["stale"] += 1
            return
        origin = held.origin
        self._drop(lease.key, held)
        if status in RULES or status in ALL_ALLOWED:
            self._state.robots.learn(origin, body if status in RULES else None, now)
            self._state.ready.admit(origin)
        else:
            self._robots_failed(origin, cause, 0.0, now)
        self._state.ready.settle(origin.host, now)

    def expire(self, now: float) -> None:
        """Return leases whose time is over to their queue, an attempt counted."""
        state = self._state
        for key in state.leases.expired(now):
            held = state.leases.held[key]
            state.tally["expired"] += 1
            if held.origin is not None:
                self._drop(key, held)
                self._robots_failed(held.origin, EXPIRED, 0.0, now)
            else:
                row = self.let_go(key, held)
                self._again(row, key, EXPIRED, 0.0, now)
                state.put(row)
            state.ready.settle(held.host, now)

    def release_all(self) -> None:
        """Return all leases to their queues; no attempt is counted."""
        state = self._state
        for key, held in list(state.leases.held.items()):
            if held.origin is not None:
                self._drop(key, held)
                state.ready.admit(held.origin)
            else:
                row = self.let_go(key, held)
                state.queues.enter(row, key)
                state.put(row)

    def recover(self, max_crashes: int) -> None:
        """Return what a process that died had leased; count crashes of what it was processing."""
        state = self._state
        marked = self.marks.left()
        left = state.store.leased()
        state.leases.changed.update(left)
        for key in left:
            row = state.get(key)
            if row is not None:
                state.queues.enter(row, key)
        for key in marked:
            row = state.get(key)
            if row is None or row.state != QUEUED:
                continue
            row.crashes = min(row.crashes + 1, 255)
            state.tally["crashes"] += 1
            if row.crashes >= max_crashes > 0:
                state.queues.leave(row, key)
                state.fail(row, "crash")
            state.put(row)

    def _end(self, row: Row, key: bytes, outcome: Outcome, now: float) -> None:
        state = self._state
        ending = outcome.ending
        if ending is CRAWLED:
            state.crawled(row, outcome.relevance, now)
            again, row.flags = row.flags & COUNTED, row.flags | COUNTED
            state.put(row)
            if again:
                return
            worth = outcome.relevance if outcome.worth is None else outcome.worth
            state.biases.crawled(state.queues.unit(row), worth)
            return
        if ending is Ending.REDIRECTED:
            self._redirect(row, key, outcome, now)
        elif ending is Ending.ERROR:
            row.when = now
            row.attempts = min(row.attempts + 1, 255)
            state.fail(row, outcome.reason or "error")
        elif ending is Ending.LATER:
            self._again(row, key, outcome.reason or "later", outcome.not_before, now)
        else:
            state.queues.enter(row, key)
        state.put(row)

    def _redirect(self, row: Row, key: bytes, outcome: Outcome, now: float) -> None:
        state = self._state
        self._intake.redirected(row, key, outcome)
        state.crawled(row, outcome.relevance, now)
        row.flags |= REDIRECTED
        row.set_text(REASON, "redirected")
        state.tally["redirected"] += 1

    def _again(self, row: Row, key: bytes, reason: str, not_before: float, now: float) -> None:
        """Count a failed fetch; queue the row again, unless that was the last one."""
        state = self._state
        row.attempts = min(row.attempts + 1, 255)
        if row.attempts >= self._max_attempts > 0:
            row.when = now
            state.fail(row, reason)
            return
        if not_before > now:
            row.flags |= DELAYED
            row.when = not_before
        row.set_text(REASON, reason)
        state.queues.enter(row, key)

    def let_go(self, key: bytes, held: Held) -> Row:
        """Forget a page lease; its row, which stands in no queue now."""
        self._drop(key, held)
        held.host.leased -= 1
        self.marks.unset(key)
        data, known = self._state.urls.get(held.number), held.row
        if not data:
            message = f"leases and rows disagree on {key.hex()}"
            raise LookupError(message)
        return known[1] if known is not None and known[0] == data else decode(data)

    def _drop(self, key: bytes, held: Held) -> None:
        self._state.leases.drop(key)
        self._free(held)

    @staticmethod
    def _free(held: Held) -> None:
        if held.slot:
            held.slot = False
            held.host.active -= 1

    def _settle_robots(
        self, origin: Origin, held: Held, key: bytes, outcome: Outcome, now: float
    ) -> None:
        """End a robots lease that brought no answer; only a release is no failed attempt."""
        self._drop(key, held)
        if outcome.ending is Ending.RELEASED:
            self._state.ready.admit(origin)
        else:
            self._robots_failed(origin, outcome.reason, outcome.not_before, now)
        self._state.ready.settle(origin.host, now)

    def _robots_failed(self, origin: Origin, cause: str, not_before: float, now: float) -> None:
        """Try a robots.txt again later, or give the origin up until its time to live is over."""
        state = self._state
        origin.attempts += 1
        if origin.attempts >= self._max_attempts > 0:
            state.robots.give_up(origin, cause, now)
            state.ready.admit(origin)
        else:
            pause = state.clock.retry_pause(origin.host, origin.attempts)
            state.ready.alarm(origin, max(not_before, now + pause))
