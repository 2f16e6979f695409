"""The frontier's contract: the protocol ``Frontier``; ``values`` has its types.

A URL is recorded once, under the fingerprint of its canonical form, and is in exactly one state:

    queued (lane 0 priorQueue, lane 1 normalQueue)
    leased (taken by ``pop``, not finished)
    crawled (crawledQueue)
    error   (errorQueue, with a reason; a URL *predicted* below minNormal has reason "low-value"
             and returns to a lane when a later offer lifts it; a URL that *failed* does not)

The links of a page (linksQueue) are stored per crawled parent. A (parent, child) pair counts only
once, however often the parent is fetched, unless the child was forgotten: a URL without a record is
new to every offer.

Where ``Limits.max_known`` is set, records of settled URLs are evicted, with the links of their
pages: ``known``, ``crawled`` and ``error`` count records that are kept, ``let-go/…`` the others.
An evicted URL that was fetched or failed is *seen* from then on: no offer, seed or redirect queues
it again, only ``requeue`` does; ``Limits.seen_error`` is the share of new URLs mistaken for seen
ones. An evicted URL that was only predicted to be low is new again.

Guarantees: after ``finish`` returned and the next commit, nothing of it is lost by kill -9; before,
the page is fetched again. ``pop`` leases URLs and never removes them. No call does network I/O. A
host is a lower-case host name without port; rules of robots.txt belong to an origin (scheme, host,
port).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from topiccrawl.frontier.values import (
    Download,
    Ending,
    Explanation,
    Kind,
    Lease,
    Limits,
    Outcome,
    Politeness,
    Seed,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from topiccrawl.frontier.portable import Entry
    from topiccrawl.model import Offer

__all__ = [
    "Download",
    "Ending",
    "Explanation",
    "Frontier",
    "Kind",
    "Lease",
    "Limits",
    "Outcome",
    "Politeness",
    "Seed",
]


class Frontier(Protocol):
    """The queue of a crawl; see the module's docstring for states and guarantees."""

    def push(self, seeds: Iterable[Seed]) -> int:
        """Queue URLs without a record in priorQueue; return the number of new ones.

        URLs that have a record, or were fetched and evicted, are not changed.
        """

    def pop(self, n: int = 1) -> list[Lease]:
        """Return up to n leases: the best URLs of all hosts that are allowed now, lanes in turn.

        A robots lease may be among them.
        """

    def begin(self, lease: Lease) -> None:
        """Mark that code which may kill the process runs on the page (``Limits.max_crashes``).

        The mark survives a crash at any time. Idempotent.
        """

    def passed(self, lease: Lease) -> None:
        """Remove the mark: such code has returned. Without ``begin``, nothing happens."""

    def downloaded(self, lease: Lease, download: Download) -> None:
        """Free the host's slot after a download, adapt its delay, back off on 429/503.

        Once per lease; a ``finish`` without it frees the slot too.
        """

    def finish(self, lease: Lease, outcome: Outcome, offers: Sequence[Offer] = ()) -> bool:
        """Settle a lease and its links in one transaction; return False (ignored) if stale."""

    def robots(self, lease: Lease, body: bytes | None, status: int, cause: str = "") -> None:
        """Settle a robots lease with its answer.

        2xx: rules; 4xx: all allowed; 5xx or no answer (0): tried again, and after ``max_attempts``
        the origin's URLs end as error with the last ``cause`` as reason: why no answer came, named
        as for pages (``cannot-resolve-host``); without one, "robots-unavailable".
        """

    def acquire(self, host: str) -> bool:
        """Take a slot of the host's clock for a request without a lease; True if allowed now."""

    def release(self, host: str) -> None:
        """Release such a slot."""

    def waits(self, host: str) -> float:
        """Return seconds that a request with a slot must wait: another crawl asked the host."""

    def left(self, host: str) -> bool:
        """Record that a request is sent now: the next waits from here; False if it must not."""

    def stood_still(self, seconds: float) -> None:
        """Compensate a stall of the process (stopped, or busy): requests were sent later.

        The clocks of hosts with requests in flight leave the stall out.
        """

    def extend(self, leases: Iterable[Lease]) -> None:
        """Give leases a new expiry."""

    def sweep(self, n: int = 100) -> int:
        """Re-score up to n stale records after a change of the topic; return the number read.

        See ``LinkStrategy.version``.
        """

    def pace(self, speed: float) -> None:
        """Divide hosts' delays by ``speed`` from their next request on; crawl-delays hold."""

    def rest(self, ahead: float = 0.0) -> float:
        """Return the time until which hosts stay quiet, if requests are sent for ``ahead`` seconds.

        Seconds since the epoch; also of a frontier that was closed.
        """

    def next_due(self) -> float | None:
        """Return seconds until ``pop`` may return a lease; None if only other calls change it."""

    def pending(self) -> bool:
        """Check whether any URL is queued or leased."""

    def counts(self) -> dict[str, int]:
        """Return sizes: prior, normal, leased, crawled, error, known, ``error/REASON`` ..."""

    def why(self, url: str) -> Explanation | None:
        """Return all that is stored of a URL, or None."""

    def iterate(self, queue: str) -> Iterator[tuple[str, float, str]]:
        """Yield (url, value, reason) of a queue (``Explanation``); best first per queue group."""

    def requeue(self, url: str, value: float | None = None) -> bool:
        """Queue a URL (again) that is crawled, failed, rejected or waiting; it is due now.

        Its failures are forgotten, its value stays; a rejected one enters normalQueue. A given
        value replaces its own, as a seed's, and moves it to priorQueue. A URL whose record was
        evicted is queued as a seed. A page that is crawled again counts once in the statistics of
        its groups and in ``Limits.max_host_pages``, unless its record was evicted. Returns False
        for a URL that has no record, is leased, or is queued and due.
        """

    def forget(self, url: str) -> bool:
        """Delete a URL's record, but not its links; its lease becomes stale.

        False without a record, also for one that was evicted: a filter forgets nothing.
        """

    def export(self) -> Iterator[Entry]:
        """Yield all entries that ``portable`` describes; concurrent changes may be missed."""

    def load(self, entries: Iterable[Entry]) -> int:
        """Load an export into this frontier, which must be empty; return the number of URLs.

        Raises:
            StateError: The frontier is not empty, the export not whole, or not for it.
        """

    def commit(self, *, wait: bool = True) -> None:
        """Make everything so far durable against kill -9; without ``wait``, soon afterwards."""

    def close(self) -> None:
        """Release open leases (no attempt counted), commit, unlock. Idempotent."""
