"""Result of a crawl by several nodes, judged from the logs of their servers."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from topiccrawl.frontier.rows import key_of

if TYPE_CHECKING:
    from collections.abc import Iterator

SLACK = 0.02
"""Tolerance for a gap in seconds: the kernel counts arrivals in milliseconds."""
UNREPORTED = 0.1
"""Seconds before a node's last message to Redis whose leases the message may lack."""
READ_SLACK = 0.15
"""Tolerance for a gap in seconds between the times at which the server read the requests."""


class Hit(NamedTuple):
    """One answered request.

    Attributes:
        began: Time of its arrival on this machine, by the kernel's count.
        ended: Time of its response.
        node: Number of the node.
        url: Of the page.
        status: Of the answer.
        read: Time when the server read it: later on a busy machine.
    """

    began: float
    ended: float
    node: int
    url: str
    status: str
    read: float = 0.0


class Interruption(NamedTuple):
    """A kill or stop of a node.

    Attributes:
        at: Time of the event.
        node: Number of the node.
        last_message: Time of the node's last message to Redis.
        leased: Keys of the pages that it had leased, by Redis.
    """

    at: float
    node: int
    last_message: float
    leased: frozenset[bytes]

    def had(self, hit: Hit) -> bool:
        """Return whether the node had the page: leased, or requested after its last message."""
        if hit.node != self.node or hit.began > self.at:
            return False
        return key_of(hit.url) in self.leased or hit.began > self.last_message - UNREPORTED


class Report(NamedTuple):
    """Result of a crawl.

    Attributes:
        pages: Pages that a polite crawler can fetch.
        missing: Pages that were never answered.
        refetched: Answers beyond one per page.
        allowed: Pages that nodes had leased when they were killed or stopped: by Redis, and those
            requested after their last message to it.
        silent: Answers beyond one per page, not leased so, but held by a node that had timed out.
        needless: Answers beyond one per page where no node had the page leased when it was killed
            or stopped, or held it when it timed out.
        timeouts: Seconds of silence after which nodes learnt that they had timed out.
        events: Kills, stops and other events of nodes.
        shared: Hosts asked by two nodes at once: (host, seconds of overlap).
        hasty: Requests too soon after the one before: (host and nodes, gap in seconds, the gap as
            the server read them).
        misread: Other requests that seem too soon (by .15 s) where the server's readings are taken.
        late: Seconds between a request's arrival and its reading by the server, at most.
        split: Pages answered per node.
        seconds: Until the last page.
        first: Seconds until the first request: programs start, which takes long on a busy machine.
    """

    pages: int
    missing: tuple[str, ...]
    refetched: int
    allowed: int
    silent: tuple[str, ...]
    needless: tuple[str, ...]
    timeouts: tuple[float, ...]
    events: tuple[str, ...]
    shared: tuple[tuple[str, float], ...]
    hasty: tuple[tuple[str, float, float], ...]
    misread: int
    late: float
    split: tuple[int, ...]
    seconds: float
    first: float

    @property
    def good(self) -> bool:
        """Return whether nothing was lost and no request was impolite."""
        return not (self.missing or self.shared or self.hasty or self.needless)


def violations(
    hits: list[Hit], delay: float
) -> tuple[tuple[tuple[str, float], ...], tuple[tuple[str, float, float], ...], int]:
    """Return hosts with two nodes at once, requests too soon, and the number of misread gaps."""
    shared, hasty, misread = [], [], 0
    for host, one, other in successive(hits):
        if other.node != one.node and other.began < one.ended:
            shared.append((host, one.ended - other.began))
        gap, seen = other.began - one.began, other.read - one.read
        if gap < delay - SLACK:
            where = f" (node {one.node}, then {other.node}, at {other.began:.2f})"
            hasty.append((f"{host}{where} {one.url} {other.url}", gap, seen))
        elif seen < delay - READ_SLACK:
            misread += 1
    return tuple(shared), tuple(hasty), misread


def successive(hits: list[Hit]) -> Iterator[tuple[str, Hit, Hit]]:
    """Yield each pair of successive requests to a host, with the host."""
    by_host: defaultdict[str, list[Hit]] = defaultdict(list)
    for hit in hits:
        by_host[urlsplit(hit.url).hostname or ""].append(hit)
    for host, requests in by_host.items():
        yield from ((host, one, other) for one, other in pairwise(requests))
