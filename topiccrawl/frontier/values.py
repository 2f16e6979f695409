"""Data types of the frontier's interface: leases and outcomes, seeds, bounds, explanations.

``contract`` has their semantics and re-exports them all.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.links.strategies.contract import PRIOR

if TYPE_CHECKING:
    from collections.abc import Mapping

    from topiccrawl.model import Evidence


class Kind(StrEnum):
    """Purpose of a lease."""

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
        expires: Time at which the lease returns by itself, seconds since the epoch.
        payload: JSON text that the caller pushed with the URL, or "".
        anchor: Anchor text stored with the URL; empty for seeds and robots.
        context: Context text stored with it.
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
        max_queued: Queued URLs (on a node) beyond which low values are refused (``seen.Tail``).
        max_known: Records of URLs (on a node) beyond which settled ones are evicted
            (``seen.Shedding``).
        seen_error: Largest share of new URLs that are mistaken for evicted ones.
    """

    max_depth: int = 0
    max_host_pages: int = 0
    max_attempts: int = 3
    max_crashes: int = 5
    lease_seconds: float = 300.0
    max_queued: int = 0
    max_known: int = 0
    seen_error: float = 0.001


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
