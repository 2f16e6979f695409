"""The frontier's contract: the strategy and the frontier itself; ``values`` has what they speak of.

A URL is known once, under the fingerprint of its canonical form, and is in exactly one state:

    queued (lane 0 priorQueue, lane 1 normalQueue)
    leased (handed out, not finished)
    crawled (crawledQueue)
    error   (errorQueue, with a reason; a URL *predicted* below minNormal has reason "low-value"
             and returns to a lane when a later offer lifts it; a URL that *failed* does not)

Which page links to which (linksQueue) is kept per crawled parent; a (parent, child) pair counts
once for ever, however often the parent is fetched, unless the child was forgotten: a URL that is
not known is new to every offer.

Where ``Limits.max_known`` is set, records of settled URLs are let go, with the links of their
pages: ``known``, ``crawled`` and ``error`` count those that are kept, ``let-go/…`` the others. What
was fetched or failed is *seen* from then on: no offer, seed or redirect queues it again, only
``requeue`` does; of URLs never met a stated share is taken for seen. What was only predicted to be
low is new again.

Guarantees: after ``finish`` returned and the next commit, nothing of it is lost by kill -9; before,
the page is fetched again. What ``pop`` hands out is leased, never removed. No call does network
I/O. A host is a lower-case host name without port; rules of robots.txt belong to an origin
(scheme, host, port).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from topiccrawl.frontier.values import (
    NORMAL,
    PRIOR,
    REJECTED,
    Download,
    Ending,
    Explanation,
    GroupStats,
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
    from topiccrawl.model import Evidence, Offer

__all__ = [
    "LEARNT",
    "NORMAL",
    "PRIOR",
    "REJECTED",
    "Download",
    "Ending",
    "Explanation",
    "Frontier",
    "GroupStats",
    "Kind",
    "Lease",
    "Limits",
    "Outcome",
    "Politeness",
    "Seed",
    "Strategy",
]


LEARNT = 2**24
"""Step of ``Strategy.version`` for what was only learnt; lower parts of it are the topic's."""


class Strategy(Protocol):
    """How evidence becomes order. Pure: no clock, no I/O; the frontier calls, a spider feeds it."""

    name: str
    fields: tuple[str, ...]
    """Names of the evidence numbers, in order."""
    share: tuple[int, int]
    """How many pops of priorQueue, then of normalQueue, in turn."""
    version: int
    """Changes when stored evidence has another meaning; below 2**32.

    ``version % LEARNT`` is the topic's: after a change of it ``sweep`` re-scores all rows, since a
    row of the errorQueue never comes to the front. The rest counts what a model has learnt: such a
    change re-scores a row when it comes to the front, or gets another parent.
    """

    def signature(self) -> str:
        """Formula and parameters: where they changed, a resumed queue gets new values, too."""
        ...

    def fold(self, known: Evidence, new: Evidence) -> Evidence:
        """Evidence of a URL after one more parent offered it; ``known`` is () for the first."""
        ...

    def value(self, evidence: Evidence) -> float:
        """Value in [0, 1] of a URL with this evidence; the larger is fetched the sooner."""
        ...

    def lane(self, evidence: Evidence) -> int:
        """Lane by evidence alone; one named by an offer or known before wins when it is better."""
        ...

    def rescore(self, evidence: Evidence, anchor: str, context: str) -> Evidence:
        """Evidence after the topic changed, from the kept texts."""
        ...

    def group(self, url: str) -> tuple[str, ...]:
        """Groups of a URL inside its host, widest first; () where only the host counts.

        The last one is its queue group: URLs of one host and one queue group share a bias.
        """
        ...

    def bias(self, stats: Sequence[GroupStats]) -> float:
        """What is added to all values of a queue group.

        ``stats`` run crawl, host, then the groups, widest first.
        """
        ...


class Frontier(Protocol):
    """The queue of a crawl. See the module's text for states and guarantees."""

    def push(self, seeds: Iterable[Seed]) -> int:
        """Queue URLs not known yet in priorQueue; number of new ones.

        Those known, or seen and let go, are left alone.
        """
        ...

    def pop(self, n: int = 1) -> list[Lease]:
        """Up to n leases: the best URLs over all hosts that are allowed now, lanes in turn.

        A robots lease may stand among them.
        """
        ...

    def begin(self, lease: Lease) -> None:
        """Code that may kill the process runs on the page now (see ``Limits.max_crashes``).

        Remembered even if the process dies this instant. Twice equals once.
        """
        ...

    def passed(self, lease: Lease) -> None:
        """Such code has returned; no mark is left. Without ``begin``, nothing happens."""
        ...

    def downloaded(self, lease: Lease, download: Download) -> None:
        """The download ended: free the host's slot, adapt its delay, back off on 429/503.

        Once per lease; a ``finish`` without it frees the slot too.
        """
        ...

    def finish(self, lease: Lease, outcome: Outcome, offers: Sequence[Offer] = ()) -> bool:
        """Settle a lease and its links in one transaction; False (ignored) if it is stale."""
        ...

    def robots(self, lease: Lease, body: bytes | None, status: int, cause: str = "") -> None:
        """Settle a robots lease with its answer.

        2xx: rules; 4xx: all allowed; 5xx or no answer (0): tried again, and after ``max_attempts``
        the origin's URLs end as error with the last ``cause`` as reason: why no answer came, named
        as for pages (``cannot-resolve-host``); without one, "robots-unavailable".
        """
        ...

    def acquire(self, host: str) -> bool:
        """Take a slot of the host's clock for a request from elsewhere; True if allowed now."""
        ...

    def release(self, host: str) -> None:
        """Give such a slot back."""
        ...

    def waits(self, host: str) -> float:
        """Seconds for which a request that has a slot must not leave: others asked meanwhile."""
        ...

    def left(self, host: str) -> bool:
        """A request to the host leaves now: the next one waits from here; False: it must not."""
        ...

    def stood_still(self, seconds: float) -> None:
        """The process did nothing for so long (stopped, or busy): what was to leave left later.

        The clocks of hosts with requests in flight did not run meanwhile.
        """
        ...

    def extend(self, leases: Iterable[Lease]) -> None:
        """Give leases a new expiry."""
        ...

    def sweep(self, n: int = 100) -> int:
        """Re-score up to n stale records after a change of the topic; number looked at.

        See ``Strategy.version``.
        """
        ...

    def pace(self, speed: float) -> None:
        """Divide hosts' delays by ``speed`` from their next request on; crawl-delays hold."""
        ...

    def rest(self, ahead: float = 0.0) -> float:
        """Until when hosts want to be left alone, if requests go out for ``ahead`` more seconds.

        Seconds since the epoch; also of a frontier that was closed.
        """
        ...

    def next_due(self) -> float | None:
        """Seconds until ``pop`` may give something; None if only other calls can change it."""
        ...

    def pending(self) -> bool:
        """Whether anything is queued or leased."""
        ...

    def counts(self) -> dict[str, int]:
        """Sizes: prior, normal, leased, crawled, error, known; ``error/REASON``, ``stale`` ..."""
        ...

    def why(self, url: str) -> Explanation | None:
        """All that is known of a URL, or None."""
        ...

    def iterate(self, queue: str) -> Iterator[tuple[str, float, str]]:
        """(url, value, reason) of a queue (``Explanation``); lanes best first per queue group."""
        ...

    def requeue(self, url: str, value: float | None = None) -> bool:
        """Fetch a URL (again): crawled, failed, rejected or waiting, it is queued, due now.

        Its failures are forgotten, its value stays; a rejected one enters normalQueue. A value
        that is given replaces its own, as a seed's, and brings it to priorQueue. One whose record
        was let go is queued as a seed. False for one that is unknown, leased or queued and due. A
        page that is crawled again counts once in the statistics of its groups and in
        ``Limits.max_host_pages``, unless its record was let go.
        """
        ...

    def forget(self, url: str) -> bool:
        """Make a URL as if never seen, but for its links; a lease is stale.

        False if unknown, also for one whose record was let go: a filter forgets nothing.
        """
        ...

    def export(self) -> Iterator[Entry]:
        """All there is, as ``portable`` describes it; what changes meanwhile may be missed."""
        ...

    def load(self, entries: Iterable[Entry]) -> int:
        """Take over an export into this frontier, which must be empty; number of URLs.

        Raises:
            StateError: The frontier is not empty, the export not whole, or not for it.
        """
        ...

    def commit(self) -> None:
        """Make everything so far durable against kill -9."""
        ...

    def close(self) -> None:
        """Release what is still leased (no attempt counted), commit, unlock. Twice equals once."""
        ...
