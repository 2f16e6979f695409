"""Values of an export: a crawl moves from one frontier to another, of any implementation.

An export is one :class:`About`, then a :class:`HostEntry` per host, a :class:`SeenEntry` per filter
of evicted URLs (if there are any), a :class:`UrlEntry` per URL, in this order. A file has one entry
per line, as JSON. An importer needs nothing else to go on as the exporter would have: same order,
same statistics, same clocks of hosts, no pair of pages counted twice. A leased URL is in its lane
again. Parents and out-links are URLs, since keys are private to an implementation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from topiccrawl.model import Evidence

FORMAT = 1


class About(NamedTuple):
    """The frontier as a whole.

    Attributes:
        strategy: Name of its strategy.
        fields: Names of its evidence numbers.
        owner: Topic (or other owner) it belongs to, or "".
        renewed: Topic's part of the version (``LEARNT``) of all records; -1 where not known.
        turn: Place in the cycle of the lanes' share.
        pages: Pages crawled, for the bias.
        worth: Sum of ``Outcome.worth`` of these pages.
        counters: Counters of ``Frontier.counts`` besides sizes and reasons: ``links``, ``stale``.
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
    """A host: its clock, its statistics, its robots.txt files.

    Attributes:
        name: Lower-case host name.
        next_at: Earliest start of the next request, seconds since the epoch.
        delay: Adaptive delay in seconds; negative before the first answer.
        level: Answers 429 or 503 in a row.
        fetched: Pages fetched, for ``Limits.max_host_pages``.
        pages: Pages crawled, for the bias.
        worth: Sum of ``Outcome.worth`` of these pages.
        groups: Group, pages crawled there, sum of their worth.
        units: Origin and groups of each queue unit, in the order of creation.
        robots: Origin, time until which it is valid, whether it is available, text (empty: all is
            allowed; where not available: the cause).
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
    """A URL.

    Attributes:
        url: Canonical URL.
        queue: ``prior``, ``normal``, ``crawled`` or ``error``.
        arrival: Its number in the order of arrival, unique, from 1 to 2**32 - 1: equal values go
            first come, first served.
        value: Stored value without bias, in [0, 1]; a 32-bit quantum (round, do not cut).
        lane: Lane it is or was in; 2 where it was predicted below minNormal.
        pinned: Its value was given (a seed), and evidence can only raise it.
        liftable: In the errorQueue only for its predicted value: a better offer lifts it.
        evidence: Numbers of the strategy.
        version: Strategy version of the evidence.
        anchor: Stored anchor text.
        context: Stored context text.
        payload: JSON text for the lease, or "".
        reason: Reason why it is in the errorQueue, waits, or ("redirected") is no page itself.
        when: Queued: not before; else time of settling; seconds since the epoch.
        relevance: Relevance of the page, once crawled.
        depth: Links from the seed.
        attempts: Failed fetches.
        crashes: Crashes of processes during its processing.
        redirects: Redirects followed to it.
        inlinks: Pages that link to it.
        first: URL of the page it was found on first, or "".
        parents: Best parents, (URL, value of their offer).
        links: URLs it links to that were counted.
        counted: Whether it was crawled and counts in the statistics of its groups.
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
    """A Bloom filter (``seen``) of keys (``rows.key_of``) of evicted URLs.

    Attributes:
        bucket: First byte of the keys in it.
        place: Its place in the bucket's chain, from 0.
        filter: Result of ``seen.Filter.pack``, as base64.
    """

    bucket: int
    place: int
    filter: str


Entry = About | HostEntry | UrlEntry | SeenEntry
