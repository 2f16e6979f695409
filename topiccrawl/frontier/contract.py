"""Frontier interface: the value types, and the protocol ``Frontier`` in three parts.

A URL is recorded once, under the fingerprint of its canonical form, and is in exactly one state:

    queued  (lane 0 priorQueue, lane 1 normalQueue)
    leased  (returned by ``pop``, not finished)
    crawled (crawledQueue)
    error   (errorQueue, with a reason; a URL *predicted* below minNormal has reason "low-value"
             and returns to a lane when a better offer comes; a URL that *failed* does not)

The links of a page (linksQueue) are stored with the crawled parent. A (parent, child) pair counts
once, however often the parent is fetched. If the child is forgotten, its next offer creates a new
record.

If ``Limits.max_known`` is set, records of settled URLs are evicted together with the links of their
pages. ``known``, ``crawled`` and ``error`` count the remaining records, ``evicted/…`` the evicted
ones. An evicted URL that was fetched or failed counts as *seen*: offers, seeds and redirects do not
queue it again, only ``requeue`` does. ``Limits.seen_error`` is the share of new URLs mistaken for
seen ones. An evicted URL that was only predicted to be low counts as new.

Guarantees: after ``finish`` and the next commit, a page and its links survive ``kill -9``; before
that, the page is fetched again. ``pop`` leases URLs and never removes them. No call does network
I/O. A host is a lower-case host name without port; robots.txt rules belong to an origin (scheme,
host, port).
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
    """Kinds of a lease's outcome."""

    CRAWLED = "crawled"
    ERROR = "error"
    REDIRECTED = "redirected"
    LATER = "later"
    RELEASED = "released"


class Outcome(NamedTuple):
    """Outcome of a lease.

    Attributes:
        ending: Kind of outcome.
        reason: Short machine-readable reason, for ERROR and LATER (``http-404``, ``dns`` ...);
            CRAWLED: the kind of the page, or "".
        relevance: CRAWLED: the page's relevance, in [0, 1].
        worth: CRAWLED: the page's contribution to the statistics of its groups, in [0, 1]; None for
            its relevance.
        not_before: LATER: earliest next attempt, seconds since the epoch. LATER counts as an
            attempt; after ``max_attempts`` it becomes ERROR with the same reason.
        target: REDIRECTED: canonical URL that inherits value, evidence and depth.
        redirects: REDIRECTED: redirects followed so far, including this one.
        payload: REDIRECTED: payload of the target's lease; None for that of the source.
        harvest: CRAWLED: True for an article on topic or a hub of such articles; not stored.
        paged: CRAWLED: True for a list with further pages. It counts in the statistics of the crawl
            and the host, but not of its directories: it is fetched for the pages it leads to, of
            which its own text says little.
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
    paged: bool = False


@dataclass(frozen=True, slots=True)
class Download:
    """Result of a download that affects the host's delay.

    Attributes:
        status: HTTP status; 0 if there was no response.
        latency: Seconds from request to headers, or None.
        retry_after: Seconds that the server asked to wait (Retry-After), or None.
    """

    status: int
    latency: float | None = None
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class Seed:
    """A URL to fetch, from the operator, a redirect or another component.

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
    """Rules for requests to hosts; only the frontier delays requests.

    Attributes:
        delay: Seconds between the starts of two requests to one host (DOWNLOAD_DELAY).
        jitter: Largest random deviation from the delay, as a share of it (DOWNLOAD_DELAY_JITTER).
        concurrency: Requests in flight per host (CONCURRENT_REQUESTS_PER_DOMAIN).
        adaptive: Adapt the delay to the host's latency (AUTOTHROTTLE_ENABLED).
        start_delay: First delay if adaptive, seconds (AUTOTHROTTLE_START_DELAY).
        max_delay: Largest adaptive or back-off delay, seconds (AUTOTHROTTLE_MAX_DELAY).
        target_concurrency: Requests in flight that the adaptive delay aims at
            (AUTOTHROTTLE_TARGET_CONCURRENCY).
        crawl_delay_max: Longest robots.txt crawl-delay honoured, seconds.
        hosts: Per-host overrides, host to (delay or None, concurrency or None) (DOWNLOAD_SLOTS).
        robots: Obey robots.txt (ROBOTSTXT_OBEY).
        robots_ttl: Seconds for which a robots.txt is valid.
        robots_away: Seconds for which a robots.txt counts as unavailable after all attempts failed;
            at most ``robots_ttl``.
        user_agent: Product token looked up in robots.txt.
        own: The operator's own hosts, whose robots.txt is not fetched.
        domain_concurrency: Maximum number of requests in flight (of a node) per registrable domain
            of several hosts; 0: no limit. One more lease may be open, so that the next request is
            sent while a page is read.
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
    """Limits that the operator sets; 0 means no limit.

    Attributes:
        max_depth: Depth beyond which offers are counted, not queued (DEPTH_LIMIT).
        max_host_pages: Pages fetched per host; further URLs of the host end as error "host-budget".
        max_attempts: Failed fetches before a URL ends as error.
        max_crashes: Crashes of the process during the processing of a URL before it ends as error
            "crash".
        lease_seconds: Life of a lease in seconds, unless extended.
        max_queued: Queued URLs (on a node) beyond which low values are refused
            (``seen.QueueLimit``).
        max_known: Records of URLs (on a node) beyond which settled ones are evicted
            (``seen.Eviction``).
        seen_error: Largest share of new URLs that may be mistaken for evicted ones.
        max_page_hosts: New hosts that the links of one page may add; links to further hosts are
            dropped and counted as ``page-hosts``.
        max_domain_hosts: Hosts (on a node) of a registrable domain; links and redirects to further
            hosts are dropped and counted as ``domain-hosts``, seeds are not.
        max_hosts: Hosts (on a node) in total; links and redirects to further hosts are dropped and
            counted as ``all-hosts``, seeds are not.
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
    """Stored state of one URL, for ``scrapy why``.

    Attributes:
        url: Canonical URL.
        queue: ``prior``, ``normal``, ``leased``, ``crawled`` or ``error``; ``seen`` if the record
            was evicted and the other fields are empty. A new URL may rarely show as ``seen`` too,
            see ``Limits.seen_error``.
        reason: Reason why the URL is in the errorQueue or waits; kind of a crawled page; or "".
        value: Stored value plus bias, as the queue compares it now.
        bias: Prior of the URL's group, included in the value.
        evidence: Evidence by field name.
        relevance: Relevance of the page if it is crawled, else None.
        anchor: Stored anchor text.
        context: Stored context text.
        inlinks: Number of crawled pages that link to the URL.
        parents: Best parents (up to three) as (url, value of their offer), best first.
        path: URLs from a seed to this URL, along first discovery.
        depth: Links from the seed.
        attempts: Failed fetches.
        when: Time of settlement, or the earliest fetch of a queued URL; seconds since the epoch.
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
    when: float = 0.0


class UrlQueue(Protocol):
    """URLs of a crawl from seed to outcome; sufficient for a crawl by one spider."""

    def push(self, seeds: Iterable[Seed]) -> int:
        """Queue URLs without a record in priorQueue; return the number of new ones.

        URLs with a record, and evicted URLs that were fetched or failed, are not changed.
        """

    def pop(self, n: int = 1) -> list[Lease]:
        """Return up to n leases: the best URLs of all hosts that may be requested now.

        The lanes take turns. A lease may be for a robots.txt.
        """

    def begin(self, lease: Lease) -> None:
        """Mark the start of code that may kill the process (``Limits.max_crashes``).

        The mark survives a crash at any time. Idempotent.
        """

    def passed(self, lease: Lease) -> None:
        """Remove the mark after such code has returned; do nothing without ``begin``."""

    def downloaded(self, lease: Lease, download: Download) -> None:
        """Free the host's slot after a download, adapt its delay, back off on 429/503.

        Call it once per lease; ``finish`` without it frees the slot too.
        """

    def finish(self, lease: Lease, outcome: Outcome, offers: Sequence[Offer] = ()) -> bool:
        """Settle a lease and its links in one transaction; return False if the lease is stale."""

    def robots(self, lease: Lease, body: bytes | None, status: int, cause: str = "") -> None:
        """Settle a robots lease with the response.

        2xx: the body has the rules; 4xx: all URLs are allowed; 5xx or no response (0): the fetch is
        retried. After ``max_attempts`` the origin's URLs end as error. Their reason is the last
        ``cause``, named as for pages (``cannot-resolve-host``), or "robots-unavailable" if none is
        given.
        """

    def extend(self, leases: Iterable[Lease]) -> None:
        """Renew the expiry of leases."""

    def next_due(self) -> float | None:
        """Return seconds until ``pop`` may return a lease; None if only other calls change that."""

    def pending(self) -> bool:
        """Check whether any URL is queued or leased."""

    def counts(self) -> dict[str, int]:
        """Return queue sizes and counters: prior, normal, leased, crawled, ``error/REASON`` ..."""

    def commit(self, *, wait: bool = True) -> None:
        """Make all changes durable against ``kill -9``; without ``wait``, return before that."""

    def close(self) -> None:
        """Release open leases (no attempt counted), commit and unlock. Idempotent."""


class HostSlots(Protocol):
    """Request slots and delays of hosts, for requests with and without a lease."""

    def acquire(self, host: str) -> bool:
        """Take a slot of the host for a request without a lease; return True if allowed now."""

    def release(self, host: str) -> None:
        """Release a slot taken by ``acquire``; do nothing if none was taken."""

    def waits(self, host: str) -> float:
        """Return seconds that a request with a slot must wait for another one that was sent.

        The other one is of another crawl, or of this one if it was slow to send this one.
        """

    def left(self, host: str) -> bool:
        """Record that a request is sent now; return False if it must not be sent.

        The host's next request waits from this time on.
        """

    def pace(self, speed: float) -> None:
        """Divide hosts' delays by ``speed`` from the next request on, but not crawl-delays."""

    def rest(self, ahead: float = 0.0) -> float:
        """Return the time until which hosts are delayed.

        Args:
            ahead: Seconds for which requests are assumed to continue.
        """


class Reader(Protocol):
    """Read access to a frontier, also while a crawl in another process writes to it."""

    def counts(self) -> dict[str, int]:
        """Return queue sizes and counters, as ``UrlQueue.counts``."""

    def why(self, url: str) -> Explanation | None:
        """Return the stored state of a URL, or None."""

    def iterate(self, queue: str) -> Iterator[tuple[str, float, str]]:
        """Yield (url, value, reason) of a queue (``Explanation``); best first per queue group."""

    def export(self) -> Iterator[Entry]:
        """Yield all ``topiccrawl.frontier.entries``; concurrent changes may be missed."""

    def close(self) -> None:
        """Close the frontier; idempotent."""


class QueueAdmin(Reader, Protocol):
    """Read access, maintenance and changes by operators."""

    def best(self, n: int) -> list[float]:
        """Return the values of the n best queued URLs, bias included, best first.

        Lanes and delays of hosts are ignored. URLs that wait for a retry time are not included.
        """

    def census(self, n: int) -> Census:
        """Return the number of hosts by state, and figures of the n busiest hosts."""

    def sweep(self, n: int = 100) -> int:
        """Re-score up to n stale records after a change of the topic; return the number read.

        See ``LinkStrategy.version``.
        """

    def requeue(self, url: str, value: float | None = None) -> bool:
        """Queue a URL (again) that is crawled, failed, rejected or waiting; it is due now.

        Its failure count is reset and its value is kept; a rejected URL enters normalQueue. A given
        value replaces the stored one, like a seed's, and moves the URL to priorQueue. A URL whose
        record was evicted is queued as a seed. A page that is crawled again counts once in the
        statistics of its groups and in ``Limits.max_host_pages``, unless its record was evicted.

        Returns:
            False for a URL that has no record, is leased, or is queued and due.
        """

    def forget(self, url: str) -> bool:
        """Delete a URL's record, but not its links; its lease becomes stale.

        Returns:
            False without a record, also if it was evicted: keys cannot be removed from a filter.
        """

    def load(self, entries: Iterable[Entry]) -> int:
        """Load an export into this frontier, which must be empty; return the number of URLs.

        Raises:
            StateError: The frontier is not empty, or the export is incomplete or for another
                frontier.
        """


class Frontier(UrlQueue, HostSlots, QueueAdmin, Protocol):
    """Queue of a crawl; see the module's docstring for states and guarantees."""
