"""The frontier's contract: types, and the protocol ``Frontier`` in three parts.

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

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from topiccrawl.frontier.entries import Entry
    from topiccrawl.frontier.view import Census
    from topiccrawl.model import Lease, Offer


class Ending(StrEnum):
    """Kinds of the end of a lease."""

    CRAWLED = "crawled"
    ERROR = "error"
    REDIRECTED = "redirected"
    LATER = "later"
    RELEASED = "released"


class Outcome(NamedTuple):
    """Outcome of a lease.

    Attributes:
        ending: Kind of its end.
        reason: Short machine-readable reason, for ERROR and LATER (``http-404``, ``dns`` ...).
        relevance: CRAWLED: the page's relevance, in [0, 1].
        worth: CRAWLED: contribution of the page to the statistics of its groups, in [0, 1]; its
            relevance where None.
        not_before: LATER: earliest next try, seconds since the epoch. LATER counts an attempt;
            past ``max_attempts`` it becomes ERROR with the same reason.
        target: REDIRECTED: canonical URL that takes over value, evidence and depth.
        redirects: REDIRECTED: redirects followed so far, this one included.
        payload: REDIRECTED: payload of the target's lease; None: that of the source.
        harvest: CRAWLED: the page is an article on topic or a hub of such; not stored.
    """

    ending: Ending
    reason: str = ""
    relevance: float = 0.0
    worth: float | None = None
    not_before: float = 0.0
    target: str = ""
    redirects: int = 0
    payload: str | None = None
    harvest: bool = False


@dataclass(frozen=True, slots=True)
class Download:
    """Result of a download, as far as it concerns the host.

    Attributes:
        status: HTTP status; 0 where there was no answer.
        latency: Seconds from request to headers, or None.
        retry_after: Seconds the server asked us to wait (Retry-After), or None.
    """

    status: int
    latency: float | None = None
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class Seed:
    """A URL that the operator (or a redirect, or another component) wants fetched.

    Attributes:
        url: Canonical URL.
        value: Value in [0, 1]; seeds go to priorQueue.
        payload: JSON text returned with the lease, or "".
        depth: Depth to record.
    """

    url: str
    value: float = 1.0
    payload: str = ""
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Politeness:
    """Rules for requests to hosts; the frontier is the only place that waits.

    Attributes:
        delay: Seconds between the starts of two requests to one host (DOWNLOAD_DELAY).
        jitter: Vary the delay by up to this share of it, both ways (DOWNLOAD_DELAY_JITTER).
        concurrency: Requests in flight per host (CONCURRENT_REQUESTS_PER_DOMAIN).
        adaptive: Follow the host's latency (AUTOTHROTTLE_ENABLED).
        start_delay: First delay when adaptive, seconds (AUTOTHROTTLE_START_DELAY).
        max_delay: Largest adaptive or back-off delay, seconds (AUTOTHROTTLE_MAX_DELAY).
        target_concurrency: AUTOTHROTTLE_TARGET_CONCURRENCY.
        crawl_delay_max: Longest robots.txt crawl-delay honoured, seconds.
        hosts: Per-host overrides, host to (delay or None, concurrency or None) (DOWNLOAD_SLOTS).
        robots: Obey robots.txt (ROBOTSTXT_OBEY).
        robots_ttl: Seconds for which a robots.txt is valid.
        robots_away: Seconds for which it counts as unavailable after all attempts failed; at most
            ``robots_ttl``.
        user_agent: Product token looked up in robots.txt.
        own: The operator's own hosts, whose robots.txt is not fetched.
        domain_concurrency: Requests in flight (of a node) per registrable domain that has several
            hosts, and open leases, one more: the next is sent while a page is read; 0: no bound.
    """

    delay: float = 1.0
    jitter: float = 0.5
    concurrency: int = 1
    adaptive: bool = True
    start_delay: float = 1.0
    max_delay: float = 60.0
    target_concurrency: float = 1.0
    crawl_delay_max: float = 60.0
    hosts: Mapping[str, tuple[float | None, int | None]] | None = None
    robots: bool = True
    robots_ttl: float = 86_400.0
    robots_away: float = 600.0
    user_agent: str = "topiccrawl"
    own: frozenset[str] = frozenset()
    domain_concurrency: int = 0


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds that the operator sets; 0 is no bound.

    Attributes:
        max_depth: Offers deeper than this are counted, not queued (DEPTH_LIMIT).
        max_host_pages: Pages fetched per host; its later URLs end as error "host-budget".
        max_attempts: Failed fetches before a URL ends as error.
        max_crashes: Crashes of the process while a URL was being processed, before it ends as
            error "crash".
        lease_seconds: Life of a lease in seconds, unless extended.
        max_queued: Queued URLs (on a node) beyond which low values are refused
            (``seen.QueueLimit``).
        max_known: Records of URLs (on a node) beyond which settled ones are evicted
            (``seen.Eviction``).
        seen_error: Largest share of new URLs that are mistaken for evicted ones.
        max_page_hosts: New hosts that the links of one page bring; further ones are dropped and
            counted as ``page-hosts``.
        max_domain_hosts: Hosts (on a node) of a registrable domain, beyond which links and
            redirects to new ones are dropped and counted as ``domain-hosts``; seeds are not.
        max_hosts: Hosts (on a node), beyond which links and redirects to new ones are dropped and
            counted as ``all-hosts``; seeds are not.
    """

    max_depth: int = 0
    max_host_pages: int = 0
    max_attempts: int = 3
    max_crashes: int = 5
    lease_seconds: float = 300.0
    max_queued: int = 0
    max_known: int = 0
    seen_error: float = 0.001
    max_page_hosts: int = 0
    max_domain_hosts: int = 0
    max_hosts: int = 0


class Explanation(NamedTuple):
    """All that is stored of one URL, for ``scrapy why``.

    Attributes:
        url: Canonical URL.
        queue: ``prior``, ``normal``, ``leased``, ``crawled`` or ``error``; ``seen`` where its
            record was evicted, so that the other fields are empty (rarely also for a new URL: see
            ``Limits.seen_error``).
        reason: Reason why it is in the errorQueue or waits; "" otherwise.
        value: Stored value plus bias, as it would be compared now.
        bias: The prior of its group in this value.
        evidence: Evidence by name of its field.
        relevance: The page's own relevance once crawled, else None.
        anchor: Stored anchor text.
        context: Stored context text.
        inlinks: Crawled pages that link to it.
        parents: Best parents (up to three), (url, value of their offer), best first.
        path: From a seed to this URL, along first discovery.
        depth: Links from the seed.
        attempts: Failed fetches.
    """

    url: str
    queue: str
    reason: str
    value: float
    bias: float
    evidence: Mapping[str, float]
    relevance: float | None
    anchor: str
    context: str
    inlinks: int
    parents: tuple[tuple[str, float], ...]
    path: tuple[str, ...]
    depth: int
    attempts: int


class UrlQueue(Protocol):
    """URLs of a crawl, from seed to outcome: all that a crawl of one spider needs."""

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

    def extend(self, leases: Iterable[Lease]) -> None:
        """Give leases a new expiry."""

    def next_due(self) -> float | None:
        """Return seconds until ``pop`` may return a lease; None if only other calls change it."""

    def pending(self) -> bool:
        """Check whether any URL is queued or leased."""

    def counts(self) -> dict[str, int]:
        """Return sizes: prior, normal, leased, crawled, error, known, ``error/REASON`` ..."""

    def commit(self, *, wait: bool = True) -> None:
        """Make everything so far durable against kill -9; without ``wait``, soon afterwards."""

    def close(self) -> None:
        """Release open leases (no attempt counted), commit, unlock. Idempotent."""


class HostSlots(Protocol):
    """Clocks of hosts, for requests with and without a lease."""

    def acquire(self, host: str) -> bool:
        """Take a slot of the host's clock for a request without a lease; True if allowed now."""

    def release(self, host: str) -> None:
        """Release such a slot; one that was never taken changes nothing."""

    def waits(self, host: str) -> float:
        """Return seconds that a request with a slot must wait: another crawl asked the host."""

    def left(self, host: str) -> bool:
        """Record that a request is sent now: the next waits from here; False if it must not."""

    def stood_still(self, seconds: float) -> None:
        """Compensate a stall of the process (stopped, or busy): requests were sent later.

        The clocks of hosts with requests in flight leave the stall out.
        """

    def pace(self, speed: float) -> None:
        """Divide hosts' delays by ``speed`` from their next request on; crawl-delays hold."""

    def rest(self, ahead: float = 0.0) -> float:
        """Return the time until which hosts stay quiet, if requests go on for ``ahead`` seconds."""


class Reader(Protocol):
    """Contents of a frontier; also of one opened for reading while a crawl writes to it."""

    def counts(self) -> dict[str, int]:
        """Return sizes and counters; as ``UrlQueue.counts``."""

    def why(self, url: str) -> Explanation | None:
        """Return all that is stored of a URL, or None."""

    def iterate(self, queue: str) -> Iterator[tuple[str, float, str]]:
        """Yield (url, value, reason) of a queue (``Explanation``); best first per queue group."""

    def export(self) -> Iterator[Entry]:
        """Yield all ``topiccrawl.frontier.entries``; concurrent changes may be missed."""

    def close(self) -> None:
        """Close the frontier; idempotent."""


class QueueAdmin(Reader, Protocol):
    """Reading, upkeep and changes by operators."""

    def best(self, n: int) -> list[float]:
        """Return the values of the n best queued URLs, bias included, best first.

        Both lanes count alike, and the hosts' waiting times do not matter; URLs that wait for a
        time of their own (a retry) do not count.
        """

    def census(self, n: int) -> Census:
        """Return the states of all hosts, and figures of the n busiest."""

    def sweep(self, n: int = 100) -> int:
        """Re-score up to n stale records after a change of the topic; return the number read.

        See ``LinkStrategy.version``.
        """

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

    def load(self, entries: Iterable[Entry]) -> int:
        """Load an export into this frontier, which must be empty; return the number of URLs.

        Raises:
            StateError: The frontier is not empty, the export not whole, or not for it.
        """


class Frontier(UrlQueue, HostSlots, QueueAdmin, Protocol):
    """The queue of a crawl; see the module's docstring for states and guarantees."""
