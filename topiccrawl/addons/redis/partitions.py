"""Buckets that a node serves, asks for and gives away.

    away ─take─► loading ─► served ─other's─► closing ─no leases─► leaving ─► away

A bucket's URLs are taken in here while it is served or closing; otherwise they are sent away.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, Any, NamedTuple

from topiccrawl.addons.redis.buckets import BUCKETS
from topiccrawl.addons.redis.plan import plan
from topiccrawl.addons.redis.wire import Call

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from topiccrawl.addons.redis.copy import WorkingCopy
    from topiccrawl.addons.redis.intake import Route
    from topiccrawl.addons.redis.view import View
    from topiccrawl.addons.redis.wire import Steps

PIECE = 500
"""Rows loaded at once: a few milliseconds of work."""


MOVED = 500
"""URLs in the buckets (at least one) that are given away at once: eviction takes time."""


class Status(Enum):
    """State of a bucket on this node."""

    AWAY = auto()
    LOADING = auto()
    SERVED = auto()
    CLOSING = auto()
    LEAVING = auto()


class _Load(NamedTuple):
    bucket: int
    unclean: bool


class Partitions:
    """The buckets of one node.

    Args:
        copy: Moves buckets between Redis and the working copy.
        route: Records which URLs are taken in here.
        clock: The frontier's.
        again: Whether pages will be crawled again: buckets without queued URLs are served, too.

    Attributes:
        takings: Number of times that a bucket came into service.
    """

    def __init__(
        self, copy: WorkingCopy, route: Route, clock: Callable[[], float], *, again: bool
    ) -> None:
        self._copy, self._route, self._clock, self._again = copy, route, clock, again
        self._status = [Status.AWAY] * BUCKETS
        self._take: list[int] = []
        self._loads: list[_Load] = []
        self._cursor = b"0"
        self._crashed: list[bytes] = []
        self._counted: dict[int, list[bytes]] = {}
        self._weights: dict[int, int] = {}
        self._leaving = False
        self.takings = 0

    def mine(self, bucket: int) -> bool:
        """Return whether changes of a bucket are to be sent."""
        status = self._status[bucket]
        return status is Status.SERVED or status is Status.CLOSING

    def closing(self, bucket: int) -> bool:
        """Return whether a bucket only waits for its leases to end."""
        return self._status[bucket] is Status.CLOSING

    def loading(self) -> bool:
        """Return whether there are buckets that are taken and not served yet."""
        return bool(self._loads)

    def idle(self) -> bool:
        """Return whether no bucket is asked for or loaded."""
        return not (self._loads or self._take)

    def give_all(self) -> None:
        """Give all buckets away with the next batch, even those with leases."""
        self._leaving = True
        for bucket in range(BUCKETS):
            if self.mine(bucket):
                self._status[bucket] = Status.CLOSING

    def clear(self) -> None:
        """Drop all buckets: other nodes may have them."""
        had = [bucket for bucket, status in enumerate(self._status) if status is not Status.AWAY]
        self._copy.evict(had)
        for bucket in had:
            self._route.serve(bucket, mine=False)
        self._status = [Status.AWAY] * BUCKETS
        self._take, self._loads, self._cursor = [], [], b"0"
        self._counted.clear()
        self._weights.clear()

    def load(self, base: str) -> Steps[bool]:
        """Load a piece of a bucket that was taken; return whether that bucket is served now."""
        if not self._loads:
            return False
        bucket, unclean = self._loads[0]
        reply = yield Call("load", base, (bucket, self._cursor, PIECE, int(self._again)))
        self._cursor, rows, links, first = reply
        if first:
            hosts, stats, robots, seen, self._crashed = first
            self._copy.take_hosts(hosts, stats, robots, self._clock() if unclean else None)
            self._copy.take_seen(seen)
        self._copy.take_rows(rows, links)
        if self._cursor == b"0":
            self._loads.pop(0)
            self._serve(bucket)
            if counted := self._copy.count_crashes(self._crashed, self._clock()):
                self._counted[bucket] = counted
            self._crashed = []
            return True
        return False

    def decide(self, view: View, node: int, dead: Collection[int], *, first: bool) -> None:
        """Decide which buckets to ask for and to close.

        Args:
            view: The whole crawl.
            node: Epoch of this node.
            dead: Epochs of nodes whose process is gone.
            first: Whether this is the first decision: empty buckets are taken, too.
        """
        if self._leaving:
            return
        living = [other for other in view.nodes if other not in dead]
        for bucket, owner in plan(living, view.claims, view.hosts).items():
            status = self._status[bucket]
            if owner == node and status is Status.CLOSING:
                self._serve(bucket)
            elif owner == node and status is Status.AWAY and bucket not in view.claims:
                if first or self._again or view.wanted(bucket):
                    self._take.append(bucket)
            elif owner != node and status is Status.SERVED:
                self._status[bucket] = Status.CLOSING
                self._copy.shut_hosts(bucket, self._clock())

    def put(self, parts: dict[str, Any], *, look: bool) -> None:
        """Add the buckets that are asked for, and those that can be given away, to a batch."""
        if self._counted:
            parts["gone_crashed"] = {b: k for b, k in self._counted.items() if self.mine(b)}
            self._counted = {}
        if look:
            self._put_weights(parts)
        if left := self._leave():
            parts["left"] = left
        if self._take:
            parts["take"], self._take = self._take, []

    def _leave(self) -> dict[int, str]:
        """Start to leave closing buckets without leases; return their queue sizes as text."""
        closing = [b for b in range(BUCKETS) if self.closing(b)]
        if not closing:
            return {}
        if not self._leaving:
            busy = self._copy.busy(closing)
            closing = self._copy.few([b for b in closing if b not in busy], MOVED)
        sizes = self._copy.queued(closing)
        left = {bucket: f"{prior} {normal}" for bucket, (prior, normal) in sizes.items()}
        for bucket in left:
            self._status[bucket] = Status.LEAVING
            self._route.serve(bucket, mine=False)
        return left

    def _put_weights(self, parts: dict[str, Any]) -> None:
        hosts = self._copy.hosts_by_bucket()
        ours = {b: n for b, n in hosts.items() if self._route.mine[b]}
        if changed := {b: n for b, n in ours.items() if self._weights.get(b) != n}:
            parts["weights"] = changed
            self._weights.update(changed)

    def left(self) -> None:
        """Evict the buckets that were given away: Redis has acknowledged them."""
        gone = [b for b, status in enumerate(self._status) if status is Status.LEAVING]
        for bucket in gone:
            self._status[bucket] = Status.AWAY
            self._weights.pop(bucket, None)
        if gone and not self._leaving:
            self._copy.evict(gone)

    def taken(self, taken: list[tuple[int, bytes, int]]) -> None:
        """Take buckets that Redis gave to this node: (bucket, queue sizes or -1, size)."""
        for bucket, left, size in taken:
            if self._status[bucket] is not Status.AWAY:
                continue
            if size:
                self._status[bucket] = Status.LOADING
                self._loads.append(_Load(bucket, left == b"-1"))
            else:
                self._serve(bucket)

    def _serve(self, bucket: int) -> None:
        self.takings += 1
        self._status[bucket] = Status.SERVED
        self._route.serve(bucket, mine=True)
        self._copy.open_hosts(bucket, self._clock())
