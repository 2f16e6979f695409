"""Entries of an export, which moves a crawl between frontiers of any implementation.

An export has one :class:`About`, then a :class:`HostEntry` per host, a :class:`SeenEntry` per
filter of evicted URLs and a :class:`UrlEntry` per URL, in this order. A file has one entry per
line, as JSON. The importing frontier continues as the exporting one would have: same order, same
statistics, same host delays, no pair of pages counted twice. Leased URLs return to their lanes.
Parents and out-links are URLs because keys are private to an implementation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from topiccrawl.model import Evidence

FORMAT = 1


class About(NamedTuple):
    """Entry of the frontier as a whole.

    Attributes:
        strategy: Name of the strategy.
        fields: Names of the strategy's evidence numbers.
        owner: Topic (or other owner) of the frontier, or "".
        renewed: Topic part of the version (``LEARNT``) of all records; -1 if unknown.
        turn: Position in the cycle of the lanes' share.
        pages: Number of crawled pages, for the bias.
        worth: Sum of ``Outcome.worth`` of these pages.
        counters: Counters of ``Frontier.counts`` except sizes and reasons: ``links``, ``stale`` ...
        format: Version of the export format.
    """

    strategy: str
    fields: tuple[str, ...]
    owner: str = ""
    renewed: int = -1
    turn: int = 0
    pages: int = 0
    worth: float = 0.0
    counters: Mapping[str, int] = {}
    format: int = FORMAT


class HostEntry(NamedTuple):
    """Entry of a host: delays, statistics and robots.txt files.

    Attributes:
        name: Lower-case host name.
        next_at: Earliest start of the next request, seconds since the epoch.
        delay: Adaptive delay in seconds; negative before the first response.
        level: Consecutive responses with status 429 or 503.
        fetched: Pages fetched, for ``Limits.max_host_pages``.
        pages: Pages crawled, for the bias.
        worth: Sum of ``Outcome.worth`` of these pages.
        groups: Tuples of group, pages crawled in it, and sum of their worth.
        units: Origin and groups of each queue unit, in the order of creation.
        robots: Tuples of origin, expiry, availability, and text (empty: all is allowed; if it is
            not available: the cause).
    """

    name: str
    next_at: float = 0.0
    delay: float = -1.0
    level: int = 0
    fetched: int = 0
    pages: int = 0
    worth: float = 0.0
    groups: tuple[tuple[str, int, float], ...] = ()
    units: tuple[tuple[str, tuple[str, ...]], ...] = ()
    robots: tuple[tuple[str, float, bool, str], ...] = ()


class UrlEntry(NamedTuple):
    """Entry of a URL.

    Attributes:
        url: Canonical URL.
        queue: ``prior``, ``normal``, ``crawled`` or ``error``.
        arrival: Unique sequence number of the URL, from 1 to 2**32 - 1; equal values are served
            first come, first served.
        value: Stored value without bias, in [0, 1]; a 32-bit quantum (round, do not truncate).
        lane: Current or last lane; 2 if the URL was predicted below minNormal.
        pinned: True if the value was given (a seed); evidence can only raise it.
        liftable: True if the URL is in the errorQueue only for its predicted value; a better offer
            queues it again.
        evidence: Evidence numbers of the strategy.
        version: Strategy version of the evidence.
        anchor: Stored anchor text.
        context: Stored context text.
        payload: JSON text for the lease, or "".
        reason: Reason why the URL is in the errorQueue or waits, or "redirected" for the source of
            a redirect.
        when: Queued: earliest fetch; else time of settlement; seconds since the epoch.
        relevance: Relevance of a crawled page.
        depth: Links from the seed.
        attempts: Failed fetches.
        crashes: Crashes of processes during its processing.
        redirects: Redirects followed to the URL.
        inlinks: Number of pages that link to the URL.
        first: URL of the page where it was found first, or "".
        parents: Best parents as (URL, value of their offer).
        links: URLs of its counted out-links.
        counted: True if the URL was crawled and counts in the statistics of its groups.
    """

    url: str
    queue: str
    arrival: int
    value: float = 0.0
    lane: int = 0
    pinned: bool = False
    liftable: bool = False
    evidence: Evidence = ()
    version: int = 0
    anchor: str = ""
    context: str = ""
    payload: str = ""
    reason: str = ""
    when: float = 0.0
    relevance: float = 0.0
    depth: int = 0
    attempts: int = 0
    crashes: int = 0
    redirects: int = 0
    inlinks: int = 0
    first: str = ""
    parents: tuple[tuple[str, float], ...] = ()
    links: tuple[str, ...] = ()
    counted: bool = False


class SeenEntry(NamedTuple):
    """Entry of a Bloom filter (``seen``) of keys (``rows.key_of``) of evicted URLs.

    Attributes:
        bucket: First byte of the keys in the filter.
        place: Index in the bucket's chain of filters, from 0.
        filter: Result of ``seen.Filter.pack``, as base64.
    """

    bucket: int
    place: int
    filter: str


Entry = About | HostEntry | UrlEntry | SeenEntry
