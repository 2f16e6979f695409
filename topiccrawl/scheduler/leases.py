"""Open leases of this process, and the conditions under which a page is complete.

Scrapy has no signal for a finished page. A lease is settled as crawled when the callback's output
has ended *and* every item it yielded has come back from the pipelines. Its links are kept until
then, and enter the frontier in the same transaction as the page's own state.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from topiccrawl.errors import StorageError
from topiccrawl.frontier.contract import Download, Ending, Frontier, Outcome
from topiccrawl.model import Findings, Kind, Lease

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    BeforeSettling = Callable[[Lease], Awaitable[None]]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Retry:
    """Delays before failed URLs are retried.

    Attributes:
        delay: Seconds after the first failure; doubles with each further one.
        max_delay: Longest delay in seconds, also for Retry-After.
    """

    delay: float = 10.0
    max_delay: float = 600.0

    def wait(self, attempts: int, retry_after: float | None = None) -> float:
        """Return seconds until the next attempt after ``attempts`` failures.

        >>> Retry(10, 60).wait(0), Retry(10, 60).wait(2), Retry(10, 60).wait(9), Retry().wait(0, 30)
        (10, 40, 60, 30)
        """
        wait = self.delay * 2 ** min(attempts, 30) if retry_after is None else retry_after
        return min(self.max_delay, wait)


MAX_FURTHER = 20
"""Maximum number of further requests of a lease, unless REDIRECT_MAX_TIMES is larger. It limits
redirects, but a component may return the same request without end."""
SETTLING_SECONDS = 10.0
"""Seconds for which the end of a crawl waits for settlements in progress; a store that is away may
delay them without end."""
UNLEASED = Lease("", b"", 0)
"""Lease of a page that came from no frontier, as in ``scrapy parse``."""
_NOTHING = Findings(0.0)
_LOST = (
    "%s: %d items came back from no pipeline: either a pipeline raised asyncio.CancelledError"
    " (catch it), or a spider middleware removed them. The page counts as crawled; to fetch it"
    " again: scrapy frontier requeue %s"
)


@dataclass(slots=True)
class _OpenLease:
    """An open lease and its current state.

    Attributes:
        lease: The lease.
        since: Time at which it was added.
        further: Number of further requests.
        slot: Host whose slot a further request takes; "" for the lease's own host.
        reported: True if the last request's download was reported to the frontier.
        findings: Relevance and links of the page.
        items: Number of the page's items in the pipelines.
        ended: True if the callback's output has ended.
        problem: Reason why the page is retried, or "".
        is_settling: True if ``LeaseBook.before_settling`` was called.
        is_fetched: True if the spider has the response.
    """

    lease: Lease
    since: float = 0.0
    further: int = 0
    slot: str = ""
    reported: bool = False
    findings: Findings = _NOTHING
    items: int = 0
    ended: bool = False
    problem: str = ""
    is_settling: bool = False
    is_fetched: bool = False


def _reraise(error: StorageError) -> None:
    raise error


@dataclass(eq=False)
class LeaseBook:
    """Open leases of this process, by number (``Lease.epoch``); unknown numbers are ignored.

    Attributes:
        frontier: Frontier of the leases.
        retry: Delays before failed URLs are retried.
        clock: Seconds since the epoch.
        settled: Called with each lease and its outcome once it is settled.
        on_failure: Called with the error of a failed write; by default it is raised.
        before_settling: Awaited with the lease of a complete page before it is settled, or None.
    """

    frontier: Frontier
    retry: Retry
    clock: Callable[[], float]
    settled: Callable[[Lease, Outcome], object] = lambda _lease, _outcome: None
    on_failure: Callable[[StorageError], object] = _reraise
    before_settling: BeforeSettling | None = None
    _open: dict[int, _OpenLease] = field(default_factory=dict)
    _tasks: set[asyncio.Future[None]] = field(default_factory=set)

    def __len__(self) -> int:
        return len(self._open)

    def pages(self) -> int:
        """Return the number of leased pages that are not complete, without robots.txt files."""
        return sum(entry.lease.kind is not Kind.ROBOTS for entry in self._open.values())

    def guesses(self, seconds: float) -> int:
        """Return the number of pages found by links that are in progress for less than a time."""
        since = self.clock() - seconds
        return sum(one.since > since and bool(one.lease.evidence) for one in self._open.values())

    def add(self, lease: Lease) -> int:
        """Register a lease; return its number."""
        self._open[lease.epoch] = _OpenLease(lease, self.clock())
        return lease.epoch

    def add_request(self, number: int, host: str) -> None:
        """Record that a further request of a lease is sent, with a slot of its host."""
        if entry := self._open.get(number):
            entry.slot, entry.reported = host, False
            entry.further += 1

    def may_continue(self, number: int, most: int) -> bool:
        """Check whether a lease had fewer than ``most`` further requests."""
        return self._open[number].further < most

    def report(self, number: int, download: Download) -> bool:
        """Report a download, which frees the host's slot; return False if already reported."""
        entry = self._open.get(number)
        if entry is None or entry.reported:
            return False
        entry.reported = True
        with self.writing() as frontier:
            if entry.slot:
                frontier.release(entry.slot)
            else:
                frontier.downloaded(entry.lease, download)
        return True

    @contextmanager
    def writing(self) -> Iterator[Frontier]:
        """Yield the frontier for a write; a failed write ends the crawl, not only the page.

        The next run fetches pages that could not be written again.
        """
        try:
            yield self.frontier
        except StorageError as error:
            self.on_failure(error)

    def lease(self, number: int) -> Lease | None:
        """Return the lease of a number, or None once it is settled."""
        return entry.lease if (entry := self._open.get(number)) else None

    def fetched(self, number: int) -> None:
        """Record that the spider gets the response of a lease."""
        if entry := self._open.get(number):
            entry.is_fetched = True

    def is_fetching(self, number: int) -> bool:
        """Check whether requests with a number are those of its lease, not copies by the spider."""
        entry = self._open.get(number)
        return entry is not None and not entry.is_fetched

    def add_findings(self, number: int, findings: Findings) -> None:
        """Keep the findings of a page until it is settled; links of all calls add up."""
        if entry := self._open.get(number):
            offers = entry.findings.offers + findings.offers
            entry.findings = findings._replace(offers=offers)

    def item_sent(self, number: int) -> None:
        """Count an item of the page that was sent to the pipelines."""
        if entry := self._open.get(number):
            entry.items += 1

    def item_returned(self, number: int, problem: str = "") -> None:
        """Count an item that was stored or dropped, or that failed.

        Args:
            number: Number of the lease.
            problem: Reason to retry the page, or "".
        """
        if entry := self._open.get(number):
            entry.items -= 1
            entry.problem = entry.problem or problem
            self._settle_if_done(entry)

    def output_ended(self, number: int) -> None:
        """Record that the callback's output has ended."""
        if entry := self._open.get(number):
            entry.ended = True
            self._settle_if_done(entry)

    def failed(self, number: int, reason: str) -> None:
        """Settle a lease as an error for which a retry is useless."""
        self.settle(number, Outcome(Ending.ERROR, reason=reason))

    def retry_later(self, number: int, reason: str, retry_after: float | None = None) -> None:
        """Settle a lease to be retried; the frontier limits the attempts."""
        if entry := self._open.get(number):
            due = self.clock() + self.retry.wait(entry.lease.attempts, retry_after)
            self.settle(number, Outcome(Ending.LATER, reason=reason, not_before=due))

    def settle(self, number: int, outcome: Outcome) -> None:
        """Settle a lease now, even if items are still in the pipelines."""
        entry = self._open.pop(number, None)
        if entry is None:
            return
        with self.writing() as frontier:
            frontier.finish(entry.lease, outcome, entry.findings.offers)
            self.settled(entry.lease, outcome)

    def drop(self, number: int) -> Lease | None:
        """Remove and return a lease that is settled in another way (robots.txt)."""
        return entry.lease if (entry := self._open.pop(number, None)) else None

    @property
    def is_settling(self) -> bool:
        """True if ``before_settling`` is in progress for any page."""
        return bool(self._tasks)

    async def settle_all(self) -> None:
        """Wait for the settlements in progress, for at most ``SETTLING_SECONDS``.

        Later ones are cancelled: the next run fetches their pages again.
        """
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=SETTLING_SECONDS)
            for task in late:
                task.cancel()

    def release(self) -> None:
        """Release all open leases; no attempt is counted."""
        for number in list(self._open):
            self.settle(number, Outcome(Ending.RELEASED))

    def abandoned(self) -> list[Lease]:
        """Settle pages whose output has ended, and return the other leases; no request is open."""
        for entry in list(self._open.values()):
            if entry.ended and not entry.is_settling:
                logger.warning(_LOST, entry.lease.url, entry.items, entry.lease.url)
                entry.items = 0
                self._settle_if_done(entry)
        return [entry.lease for entry in self._open.values() if not entry.ended]

    def extend(self) -> None:
        """Renew the expiry of all open leases."""
        with self.writing() as frontier:
            frontier.extend([entry.lease for entry in self._open.values()])

    def _settle_if_done(self, entry: _OpenLease) -> None:
        if not entry.ended or entry.items > 0 or entry.is_settling:
            return
        if entry.problem:
            self.retry_later(entry.lease.epoch, entry.problem)
        elif self.before_settling is None:
            self._settle_crawled(entry)
        else:
            entry.is_settling = True
            task = asyncio.ensure_future(self._settle_after(entry, self.before_settling))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _settle_after(self, entry: _OpenLease, hook: BeforeSettling) -> None:
        try:
            await hook(entry.lease)
        except StorageError as error:
            logger.error("Cannot settle %s, it will be retried: %s", entry.lease.url, error)  # noqa: TRY400
            self.retry_later(entry.lease.epoch, "storage")
        else:
            self._settle_crawled(entry)

    def _settle_crawled(self, entry: _OpenLease) -> None:
        found = entry.findings
        outcome = Outcome(Ending.CRAWLED, found.kind, found.relevance, found.worth)
        self.settle(entry.lease.epoch, outcome._replace(harvest=found.harvest, paged=found.paged))
