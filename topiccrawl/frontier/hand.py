"""The operator's hand: a URL fetched again, a URL forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.frontier.contract import NORMAL, PRIOR, Seed
from topiccrawl.frontier.keys import key_of
from topiccrawl.frontier.rows import (
    CRAWLED,
    DELAYED,
    ERROR,
    LOW_VALUE,
    PINNED,
    QUEUED,
    REASON,
    REDIRECTED,
    quantum,
)

if TYPE_CHECKING:
    from topiccrawl.frontier.endings import Endings
    from topiccrawl.frontier.offers import Intake
    from topiccrawl.frontier.rows import Row
    from topiccrawl.frontier.state import State


class Hand:
    """Changes single URLs.

    Args:
        state: The frontier's open state.
        endings: Lets go of a lease.
        intake: Queues what has no record any more.
    """

    def __init__(self, state: State, endings: Endings, intake: Intake) -> None:
        self._state = state
        self._endings = endings
        self._intake = intake

    def requeue(self, url: str, now: float, value: float | None = None) -> bool:
        """Queue a URL that is crawled, failed, rejected or waiting; False where it is none."""
        key = key_of(url)
        row = self._state.get(key)
        if row is None:
            return self._recall(url, key, value)
        if key in self._state.leases.held:
            return False
        if row.state == QUEUED and not (row.flags & DELAYED and row.when > now):
            return False
        self._take_out(row, key)
        row.state = QUEUED
        row.flags &= ~(DELAYED | LOW_VALUE | REDIRECTED)
        row.lane = min(row.lane, NORMAL)
        if value is not None:
            row.flags |= PINNED
            row.lane, row.value = PRIOR, quantum(value)
        row.attempts = row.crashes = 0
        row.when = 0.0
        row.set_text(REASON, "")
        self._state.queues.enter(row, key)
        self._state.put(row)
        place = self._state.place(url)
        if place is not None:
            self._state.robots.retry(place.origin, now)
        return True

    def _recall(self, url: str, key: bytes, value: float | None) -> bool:
        """Queue a URL that was let go, as a seed; False where it was not."""
        place = self._state.place(url) if key in self._state.seen else None
        if place is None:
            return False
        self._intake.plant(Seed(url, 1.0 if value is None else value), key, place)
        return True

    def forget(self, url: str, now: float) -> bool:
        """Delete a URL's row wherever it stands; False where there is none."""
        state = self._state
        key = key_of(url)
        row = state.get(key)
        if row is None:
            return False
        held = state.leases.held.get(key)
        if held is not None:
            self._endings.let_go(key, held)
            state.ready.settle(held.host, now)
        else:
            self._take_out(row, key)
        state.store.forget(key, row.seq)
        state.tally["known"] -= 1
        return True

    def _take_out(self, row: Row, key: bytes) -> None:
        """Take a row that is not leased out of its queue."""
        state = self._state
        if row.state == QUEUED:
            state.queues.leave(row, key)
        elif row.state == CRAWLED:
            state.tally["crawled"] -= 1
        elif row.state == ERROR:
            state.tally["error"] -= 1
            state.tally["error/" + row.text(REASON)] -= 1
