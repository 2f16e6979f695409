"""What became of a crawl by several nodes, judged from what their servers saw."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import NamedTuple
from urllib.parse import urlsplit

from topiccrawl.frontier.rows import key_of

SLACK = 0.02
"""Seconds by which a gap may fall short: the kernel's count of arrivals goes by milliseconds."""
UNSAID = 0.1
"""Seconds before Redis had a node's last word in which the node may have leased what that lacks."""
READ = 0.15
"""Seconds by which a gap may fall short where the moments are those of the server's reading."""


class Hit(NamedTuple):
    """One answered request.

    Attributes:
        began: When it reached this machine, by the kernel's count.
        ended: When it was answered.
        node: Whose it is.
        url: Of the page.
        status: Of the answer.
        read: When the server came to read it: later on a busy machine.
    """

    began: float
    ended: float
    node: int
    url: str
    status: str
    read: float = 0.0


class Blow(NamedTuple):
    """Something that was done to a node.

    Attributes:
        at: When.
        node: To which.
        word: When Redis heard of it last.
        leased: Keys of the pages that it had leased, as Redis knew.
    """

    at: float
    node: int
    word: float
    leased: frozenset[bytes]

    def took(self, hit: Hit) -> bool:
        """Whether the page was in the node's hands: leased, or asked for after its last word."""
        if hit.node != self.node or hit.began > self.at:
            return False
        return key_of(hit.url) in self.leased or hit.began > self.word - UNSAID


class Report(NamedTuple):
    """What became of a crawl.

    Attributes:
        pages: Pages that a polite crawler can fetch.
        missing: Those that were never answered.
        refetched: Answers beyond one per page.
        allowed: Pages that nodes had leased when they were killed or stopped: what Redis knew of,
            and what they asked for after their last word to it.
        silent: Answers beyond one per page, not leased so, but in the hands of a node that the
            others gave up.
        needless: Answers beyond one per page where nobody had the page leased when it was killed or
            stopped, or in its hands when the others gave it up.
        given_up: Seconds of silence after which nodes heard that they had been given up.
        events: What was done to nodes.
        shared: Hosts asked by two nodes at once: (host, seconds of overlap).
        hasty: Requests too soon after the one before: (host and whose, gap in seconds, the gap as
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
    given_up: tuple[float, ...]
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
        """Whether nothing was lost and nobody was rude."""
        return not (self.missing or self.shared or self.hasty or self.needless)


def rudeness(
    hits: list[Hit], delay: float
) -> tuple[tuple[tuple[str, float], ...], tuple[tuple[str, float, float], ...], int]:
    """Hosts asked by two nodes at once, requests that came too soon, and that only seem so."""
    by_host: defaultdict[str, list[Hit]] = defaultdict(list)
    for hit in hits:
        by_host[urlsplit(hit.url).hostname or ""].append(hit)
    shared, hasty, misread = [], [], 0
    for host, asked in by_host.items():
        for one, other in pairwise(asked):
            if other.node != one.node and other.began < one.ended:
                shared.append((host, one.ended - other.began))
            gap, seen = other.began - one.began, other.read - one.read
            if gap < delay - SLACK:
                where = f" (node {one.node}, then {other.node}, at {other.began:.2f})"
                hasty.append((f"{host}{where} {one.url} {other.url}", gap, seen))
            elif seen < delay - READ:
                misread += 1
    return tuple(shared), tuple(hasty), misread
