"""Settlement of leases: outcome, host delay, return to the queue; operators' changes of URLs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.frontier import rows
from topiccrawl.frontier.contract import Download, Ending, Limits, Outcome, Seed
from topiccrawl.frontier.leases import Marks
from topiccrawl.links.strategies.contract import NORMAL, PRIOR
from topiccrawl.model import CHALLENGE, Lease, Offer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from topiccrawl.frontier.hosts import Origin
    from topiccrawl.frontier.ingest import LinkIngest
    from topiccrawl.frontier.politeness import HostClock, Robots
    from topiccrawl.frontier.queues import Queues
    from topiccrawl.frontier.rows import Row

CRASH = "crash"
EXPIRED = "lease-expired"
RULES, ALL_ALLOWED = range(200, 300), range(300, 500)
CRAWLED = Ending.CRAWLED
"""Looked up once: access to members of an enumeration is slow."""


class LeaseSettlement:
    """Settlement of leases, and operators' changes of single URLs; see the contract for these.

    Args:
        queues: Rows and the queues they are in.
        ingest: Adds links and redirect targets.
        robots: Stores robots.txt files.
        host_clock: Delays of the hosts.
        limits: Limits of attempts and crashes.
        clock: Seconds since the epoch.

    Attributes:
        marks: Pages being processed.
    """

    def __init__(
        self, queues: Queues, ingest: LinkIngest, robots: Robots, host_clock: HostClock,
        limits: Limits, clock: Callable[[], float],
    ) -> None:  # fmt: skip
        self._queues, self._urls, self._leases = queues, queues.urls, queues.leases
        self._ready, self._tally = queues.ready, queues.tally
        self._ingest, self._robots, self._host_clock = ingest, robots, host_clock
        self._clock = clock
        self._max_attempts, self._max_crashes = limits.max_attempts, limits.max_crashes
        self.marks = Marks(queues.urls.store.path / "begun")

    # -- settlement --------------------------------------------------------------------------------

    def finish(self, lease: Lease, outcome: Outcome, offers: Sequence[Offer] = ()) -> bool:
        """Settle a lease and its links; return False if the lease is stale."""
        if self._leases.find(lease) is None:
            self._tally["stale"] += 1
            return False
        self._end(lease.key, outcome, offers)
        return True

    def downloaded(self, lease: Lease, download: Download) -> None:
        """Free the host's slot and adapt to the response, once."""
        entry, now = self._leases.find(lease), self._clock()
        if entry is not None and entry.has_slot:
            entry.free_slot()
            self._host_clock.record_response(entry.host, download, now)
            self._ready.host_changed(entry.host, now)
            self._ready.record_duration(entry.host, now - entry.leased_at)

    def expire(self, now: float) -> None:
        """Return expired leases to their queues; each counts as an attempt."""
        for key in self._leases.expired(now):
            self._tally["expired"] += 1
            self._end(key, Outcome(Ending.LATER, EXPIRED))

    def release_all(self) -> None:
        """Return all leases to their queues; no attempt is counted."""
        for key in list(self._leases.by_key):
            self._end(key, Outcome(Ending.RELEASED))

    def add_crashes(self, key: bytes, times: int = 1, wait: float = 0.0) -> bool:
        """Count crashes of processes during the processing of a page.

        Args:
            key: Key of the page.
            times: Number of crashes.
            wait: Seconds per crash until the page is fetched again.

        Returns:
            False if the page has no record.
        """
        row, now = self._urls.row(key), self._clock()
        if row is None or row.state != rows.QUEUED:
            return row is not None
        self._tally["crashes"] += times
        self._queues.leave(row, key)
        row.crashes = min(row.crashes + times, 255)
        is_last = row.crashes >= self._max_crashes > 0
        _retry_or_fail(row, CRASH, now + wait * row.crashes, now, is_last=is_last)
        self._queues.put_back(row, key)
        return True

    def _end(self, key: bytes, outcome: Outcome, offers: Sequence[Offer] = ()) -> None:
        """End an open lease."""
        entry, now = self._leases.by_key[key], self._clock()
        if entry.origin is not None:
            failure = None if outcome.ending is Ending.RELEASED else outcome.reason
            self._end_robots(entry.origin, key, failure, now, outcome.not_before)
            return
        row, host = self._release(key), entry.host
        was_counted = row.flags & rows.COUNTED
        if offers:
            self._tally["links"] += self._ingest.links(row, key, offers)
            self._host_clock.postpone_for_links(host, len(offers), now)
        self._apply(row, key, outcome, now)
        if outcome.reason == CHALLENGE:
            self._host_clock.back_off(host, row.attempts, now)
        self._queues.put_back(row, key)
        if row.state != rows.QUEUED:
            host.pages += not was_counted
            self._ready.host_changed(host, now)
        else:
            self._ready.reschedule(host, now)

    def _apply(self, row: Row, key: bytes, outcome: Outcome, now: float) -> None:
        """Change a row that is in no queue by the outcome of its lease."""
        ending = outcome.ending
        if ending is CRAWLED:
            row.settle(rows.CRAWLED, outcome.reason, now)
            row.relevance = outcome.relevance
            if not row.flags & rows.COUNTED:
                row.flags |= rows.COUNTED
                worth = outcome.relevance if outcome.worth is None else outcome.worth
                self._ready.count_page(self._queues.unit(row), worth, paged=outcome.paged)
        elif ending is Ending.REDIRECTED:
            self._ingest.redirected(row, key, outcome)
            row.settle(rows.CRAWLED, "redirected", now)
            row.relevance = outcome.relevance
            self._tally["redirected"] += 1
        elif ending is not Ending.RELEASED:
            row.attempts = min(row.attempts + 1, 255)
            is_last = ending is Ending.ERROR or row.attempts >= self._max_attempts > 0
            reason, due = outcome.reason or ending.value, outcome.not_before
            _retry_or_fail(row, reason, due, now, is_last=is_last)

    def _release(self, key: bytes) -> Row:
        """End a page lease; return its row, which is then in no queue."""
        self._leases.drop(key)
        self.marks.unset(key)
        row = self._urls.row(key)
        assert row is not None, f"leases and rows disagree on {key.hex()}"  # noqa: S101
        return row

    # -- robots.txt files --------------------------------------------------------------------------

    def robots(self, lease: Lease, body: bytes | None, status: int, cause: str = "") -> None:
        """Settle a robots lease with the response; a stale one is ignored and counted."""
        entry, now = self._leases.find(lease), self._clock()
        if entry is None or entry.origin is None:
            self._tally["stale"] += 1
            return
        failure = None if status in RULES or status in ALL_ALLOWED else cause
        if failure is None:
            rules = (body or b"") if status in RULES else b""
            self._robots.store(entry.origin, rules, now, available=True)
        self._end_robots(entry.origin, lease.key, failure, now)

    def _end_robots(
        self, origin: Origin, key: bytes, failure: str | None, now: float, not_before: float = 0.0
    ) -> None:
        """End a robots lease.

        After a failure the robots.txt is fetched again, or it counts as unavailable until that
        expires.

        Args:
            origin: Origin of the robots.txt.
            key: Key of the lease.
            failure: Cause of a failed attempt, or None.
            now: Current time.
            not_before: Earliest next attempt.
        """
        self._leases.drop(key)
        origin.attempts += failure is not None
        if failure is not None and not origin.attempts >= self._max_attempts > 0:
            pause = self._host_clock.retry_delay(origin.host, origin.attempts)
            self._ready.schedule(origin, max(not_before, now + pause))
        else:
            if failure is not None:
                self._robots.store(origin, failure.encode(), now, available=False)
            self._ready.set_blocked(origin, blocked=False)
        self._ready.reschedule(origin.host, now)

    # -- operators ---------------------------------------------------------------------------------

    def requeue(self, url: str, value: float | None = None) -> bool:
        """Queue a URL that is crawled, failed, rejected or waiting; return False otherwise."""
        key, now = rows.key_of(url), self._clock()
        row = self._urls.row(key)
        if row is None:
            seed = Seed(url, 1.0 if value is None else value)
            return key in self._ingest.seen and self._ingest.add_seed(seed, key)
        if key in self._leases.by_key:
            return False
        if row.state == rows.QUEUED and not (row.flags & rows.DELAYED and row.when > now):
            return False
        self._queues.leave(row, key)
        row.lane = min(row.lane, NORMAL)
        if value is not None:
            row.flags |= rows.PINNED
            row.lane, row.value = PRIOR, rows.quantum(value)
        row.attempts = row.crashes = 0
        row.when = 0.0
        row.unsettle()
        self._queues.put_back(row, key)
        self._robots.expire_unavailable(self._queues.unit(row).origin, now)
        return True

    def forget(self, url: str) -> bool:
        """Delete a URL's row from any queue; return False if there is none."""
        key = rows.key_of(url)
        row = self._urls.row(key)
        if row is None:
            return False
        if key in self._leases.by_key:
            self._end(key, Outcome(Ending.RELEASED))
        self._queues.remove(row, key)
        return True


def _retry_or_fail(row: Row, reason: str, not_before: float, now: float, *, is_last: bool) -> None:
    """Queue a row again, due at a given time; or fail it at the last attempt."""
    if is_last:
        row.settle(rows.ERROR, reason, now)
    else:
        if not_before > now:
            row.flags, row.when = row.flags | rows.DELAYED, not_before
        row.set_text(rows.REASON, reason)
