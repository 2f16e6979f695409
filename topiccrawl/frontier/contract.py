"""The frontier's contract: values, strategy and the frontier itself.

A URL is known once, under the fingerprint of its canonical form, and is in exactly one state:

    queued (lane 0 priorQueue, lane 1 normalQueue)
    leased (handed out, not finished)
    crawled (crawledQueue)
    error   (errorQueue, with a reason; a URL *predicted* below minNormal has reason "low-value"
             and returns to a lane when a later offer lifts it; a URL that *failed* does not)

Which page links to which (linksQueue) is kept per crawled parent; a (parent, child) pair counts
once for ever, however often the parent is fetched, unless the child was forgotten: a URL that is
not known is new to every offer.

Guarantees: after ``finish`` returned and the next commit, nothing of it is lost by kill -9; before,
the page is fetched again. What ``pop`` hands out is leased, never removed. No call does network
I/O. A host is a lower-case host name without port; rules of robots.txt belong to an origin
(scheme, host, port).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from topiccrawl.frontier.portable import Entry
    from topiccrawl.records import Evidence, Offer

PRIOR, NORMAL, REJECTED = 0, 1, 2
"""Lanes: priorQueue, normalQueue, "predicted below minNormal"."""


class Kind(StrEnum):
    """What a lease is for."""

    PAGE = "page"
    ROBOTS = "robots"


class Lease(NamedTuple):
    """The right to fetch one URL once.

    Attributes:
        url: Canonical URL (for ``Kind.ROBOTS`` the origin's /robots.txt).
        key: Identity of the URL, opaque bytes.
        epoch: Number of this lease; a ``finish`` with an older epoch is ignored and counted.
        kind: A page, or the robots.txt that must be known before the host's pages.
        lane: Lane it was taken from.
        value: Its value at lease time, group bias included.
        evidence: Its evidence at lease time (empty for seeds and robots).
        depth: Links from the nearest seed when it was first queued; seeds have 0.
        attempts: Fetches that failed before this one.
        redirects: Redirects followed on the way to this URL.
        expires: When the lease returns by itself, seconds since the epoch.
        payload: JSON text of what the caller pushed with the URL, or "".
        anchor: Anchor text kept with the URL; empty for seeds and robots.
        context: Context kept with it.
    """

    url: str
    key: bytes
    epoch: int
    kind: Kind = Kind.PAGE
    lane: int = PRIOR
    value: float = 0.0
    evidence: Evidence = ()
    depth: int = 0
    attempts: int = 0
    redirects: int = 0
    expires: float = 0.0
    payload: str = ""
    anchor: str = ""
    context: str = ""


class Ending(StrEnum):
    """How a lease ends."""

    CRAWLED = "crawled"
    ERROR = "error"
    REDIRECTED = "redirected"
    LATER = "later"
    RELEASED = "released"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a lease.

    Attributes:
        ending: How it ends.
        reason: Short machine-readable reason, for ERROR and LATER (``http-404``, ``dns`` ...).
        relevance: CRAWLED: the page's relevance, in [0, 1].
        worth: CRAWLED: what the page counts in the statistics of its groups, in [0, 1]; its
            relevance where None.
        not_before: LATER: earliest next try, seconds since the epoch. LATER counts an attempt;
            past ``max_attempts`` it becomes ERROR with the same reason.
        target: REDIRECTED: canonical URL that takes over value, evidence and depth.
        redirects: REDIRECTED: redirects followed so far, this one included.
        payload: REDIRECTED: what is handed back with the target's lease; None: what the source had.
    """

    ending: Ending
    reason: str = ""
    relevance: float = 0.0
    worth: float | None = None
    not_before: float = 0.0
    target: str = ""
    redirects: int = 0
    payload: str | None = None


@dataclass(frozen=True, slots=True)
class Download:
    """What a download told about its host.

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
        payload: JSON text handed back with the lease, or "".
        depth: Depth to record.
    """

    url: str
    value: float = 1.0
    payload: str = ""
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Politeness:
    """How hosts are treated; the frontier is the only place that waits.

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
        robots_ttl: Seconds a robots.txt is believed.
        user_agent: Product token looked up in robots.txt.
        own: Hosts of the operator's own, whose robots.txt is not asked.
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
    user_agent: str = "topiccrawl"
    own: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds the operator sets; 0 is no bound.

    Attributes:
        max_depth: Offers deeper than this are counted, not queued (DEPTH_LIMIT).
        max_host_pages: Pages fetched per host; its later URLs end as error "host-budget".
        max_attempts: Failed fetches before a URL ends as error.
        max_crashes: Times a URL was being processed when the process died, before it ends as
            error "crash".
        lease_seconds: How long a lease lives unless extended.
        max_queued: URLs waiting (on a node) beyond which low values are turned away (``tail``).
    """

    max_depth: int = 0
    max_host_pages: int = 0
    max_attempts: int = 3
    max_crashes: int = 5
    lease_seconds: float = 300.0
    max_queued: int = 0


class GroupStats(NamedTuple):
    """What fetched pages of a group of URLs (a directory, a host, the crawl) turned out to be.

    Attributes:
        pages: Pages crawled there.
        relevance: Sum of what they were worth (``Outcome.worth``).
    """

    pages: int
    relevance: float


class Strategy(Protocol):
    """How evidence becomes order. Pure: no clock, no I/O; the frontier calls, a spider feeds it."""

    name: str
    fields: tuple[str, ...]
    """Names of the evidence numbers, in order."""
    share: tuple[int, int]
    """How many pops of priorQueue, then of normalQueue, in turn."""
    version: int
    """Grows when the meaning of stored evidence changed (topic, model): values are made anew."""

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


class Explanation(NamedTuple):
    """Everything known of one URL, for ``scrapy why``.

    Attributes:
        url: Canonical URL.
        queue: ``prior``, ``normal``, ``leased``, ``crawled`` or ``error``.
        reason: Why it is in the errorQueue or waits; "" otherwise.
        value: Stored value plus bias, as it would be compared now.
        bias: The group's part of it.
        evidence: Evidence by name of its field.
        relevance: The page's own relevance once crawled, else None.
        anchor: Kept anchor text.
        context: Kept context text.
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


class Frontier(Protocol):
    """The queue of a crawl. See the module's text for states and guarantees."""

    def push(self, seeds: Iterable[Seed]) -> int:
        """Queue URLs not known yet in priorQueue; number of new ones. Known ones are left alone."""
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

    def robots(self, lease: Lease, body: bytes | None, status: int) -> None:
        """Settle a robots lease with its answer.

        2xx: rules; 4xx: all allowed; 5xx or no answer (0): tried again, and after ``max_attempts``
        the origin's URLs end as error "robots-unavailable".
        """
        ...

    def acquire(self, host: str) -> bool:
        """Take a slot of the host's clock for a request from elsewhere; True if allowed now."""
        ...

    def release(self, host: str) -> None:
        """Give such a slot back."""
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
        """Make the values of up to n stale records anew (see ``Strategy.version``); number done."""
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
        that is given replaces its own, as a seed's, and brings it to priorQueue. False for one
        that is unknown, leased or queued and due. A page that is crawled again counts once in the
        statistics of its groups and in ``Limits.max_host_pages``.
        """
        ...

    def forget(self, url: str) -> bool:
        """Make a URL as if never seen, but for its links; a lease is stale. False if unknown."""
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
