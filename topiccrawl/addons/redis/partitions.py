"""Buckets that a node serves, requests and gives away, by its view of the whole crawl.

    away ─take─► loading ─► served ─planned for another node─► closing ─no leases─► leaving ─► away

The URLs of a bucket are stored by this node while it is served or closing; otherwise they are sent
to another node.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, Any, NamedTuple

from xxhash import xxh3_64_intdigest

from topiccrawl.addons.redis.buckets import BUCKETS
from topiccrawl.addons.redis.transport import Call, Conversation

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from topiccrawl.addons.redis.messages import Route
    from topiccrawl.addons.redis.working_copy import WorkingCopy

LOAD_BATCH = 500
"""Number of rows loaded at once, which takes a few milliseconds."""
GIVE_BATCH = 500
"""Number of URLs in the buckets (at least one) that are given away at once; eviction takes time."""

TOLERANCE = 0.05
"""Share of the mean load by which a node may differ before buckets move."""
HOST_WEIGHT = 1000
"""Weight of a recorded host; an empty bucket has weight 1."""


class Status(Enum):
    """State of a bucket on this node."""

    AWAY = auto()
    LOADING = auto()
    SERVED = auto()
    CLOSING = auto()
    LEAVING = auto()


class View(NamedTuple):
    """Nodes of a crawl, with their buckets and queue sizes.

    Attributes:
        nodes: Epochs of the nodes that are alive.
        names: Node to its identity (JSON).
        claims: Bucket to node.
        left: Free bucket to its queue sizes (prior, normal); None if its node died.
        sizes: Node to (prior, normal, leased pages, all leases).
        hosts: Bucket to number of recorded hosts.
        unread: Buckets with unread messages.
    """

    nodes: tuple[int, ...]
    names: Mapping[int, str]
    claims: Mapping[int, int]
    left: Mapping[int, tuple[int, int] | None]
    sizes: Mapping[int, tuple[int, ...]]
    hosts: Mapping[int, int]
    unread: frozenset[int]

    def pending(self, node: int) -> bool:
        """Return whether other nodes or free buckets have queued URLs, leases or messages."""
        busy = any(any(sizes) for other, sizes in self.sizes.items() if other != node)
        left = any(left is None or any(left) for left in self.left.values())
        return busy or left or bool(self.unread)

    def free(self, bucket: int, node: int) -> bool:
        """Return whether a bucket is free for a node: no other living node has it."""
        owner = self.claims.get(bucket)
        return owner == node or owner not in self.nodes

    def wanted(self, bucket: int) -> bool:
        """Return whether a free bucket has queued URLs or messages, or its node died."""
        left = None if bucket in self.claims else self.left.get(bucket, (0, 0))
        return left is None or any(left) or bucket in self.unread

    def other_sizes(self, node: int) -> tuple[int, int, int]:
        """Return the numbers of URLs (prior, normal, leased) of other nodes and free buckets."""
        parts = [(*sizes, 0, 0, 0)[:3] for other, sizes in self.sizes.items() if other != node]
        parts += [(*left, 0) for left in self.left.values() if left is not None]
        prior, normal, leased = (sum(column) for column in zip((0, 0, 0), *parts, strict=True))
        return prior, normal, leased


NOTHING = View((), {}, {}, {}, {}, {}, frozenset())


def view_of(values: list[Any]) -> View:
    """Decode the view in the reply of the exchange script: flat lists of fields and values."""
    nodes, names, claims, left, sizes, hosts, unread = values
    return View(
        tuple(sorted(int(node) for node in nodes[::2])),
        _numbered(names, bytes.decode),
        _numbered(claims, int),
        _numbered(left, _left),
        _numbered(sizes, lambda text: tuple(map(int, text.split()))),
        _numbered(hosts, int),
        frozenset(map(int, unread)),
    )


def _numbered(flat: list[bytes], read: Callable[[bytes], Any]) -> dict[int, Any]:
    return {int(k): read(v) for k, v in zip(flat[::2], flat[1::2], strict=True)}


def _left(text: bytes) -> tuple[int, int] | None:
    if text == b"-1":
        return None
    prior, normal = map(int, text.split())
    return prior, normal


class Partitions:
    """Buckets of one node.

    Args:
        copy: Loads buckets into the working copy, and evicts them.
        route: Records which URLs are stored by this node.
        clock: Clock of the frontier.
        again: Whether pages will be crawled again; if so, buckets without queued URLs are served,
            too.

    Attributes:
        served_count: Number of times that a bucket became served.
    """

    def __init__(
        self, copy: WorkingCopy, route: Route, clock: Callable[[], float], *, again: bool
    ) -> None:
        self._copy, self._route, self._clock, self._again = copy, route, clock, again
        self._status = [Status.AWAY] * BUCKETS
        self._take: list[int] = []
        self._loads: list[tuple[int, bool]] = []
        self._cursor = b"0"
        self._counted: dict[int, list[bytes]] = {}
        self._weights: dict[int, int] = {}
        self._leaving = False
        self.served_count = 0

    def closing(self, bucket: int) -> bool:
        """Return whether a bucket waits for the end of its leases."""
        return self._status[bucket] is Status.CLOSING

    def loading(self) -> bool:
        """Return whether buckets were taken and are not served yet."""
        return bool(self._loads)

    def idle(self) -> bool:
        """Return whether no bucket is being requested or loaded."""
        return not (self._loads or self._take)

    def give_all(self) -> None:
        """Give all buckets away with the next batch, even those with leases."""
        self._leaving = True
        self._take.clear()  # a node that has left would keep them forever
        for bucket in range(BUCKETS):
            if self._route.mine[bucket]:
                self._status[bucket] = Status.CLOSING

    def clear(self) -> None:
        """Drop all buckets, since other nodes may have them."""
        had = [bucket for bucket, status in enumerate(self._status) if status is not Status.AWAY]
        self._copy.evict(had)
        for bucket in had:
            self._route.serve(bucket, mine=False)
        self._status = [Status.AWAY] * BUCKETS
        self._take, self._loads, self._cursor = [], [], b"0"
        self._counted.clear()
        self._weights.clear()

    def load(self, base: str) -> Conversation[bool]:
        """Load a batch of rows of a taken bucket; return whether the bucket is now served."""
        if not self._loads:
            return False
        bucket, unclean = self._loads[0]
        arguments = (bucket, self._cursor, LOAD_BATCH, int(self._again))
        self._cursor, *loaded = yield Call("load", base, arguments)
        self._copy.take(*loaded, begun=self._clock() if unclean else None)
        if self._cursor != b"0":
            return False
        self._loads.pop(0)
        self._serve(bucket)
        if counted := self._copy.count_crashes():
            self._counted[bucket] = counted
        return True

    def decide(self, view: View, node: int, dead: Collection[int], *, first: bool) -> None:
        """Decide which buckets to request and to close.

        Args:
            view: View of the whole crawl.
            node: Epoch of this node.
            dead: Epochs of nodes whose process has ended.
            first: Whether this is the first decision, in which empty buckets are taken, too.
        """
        if self._leaving:
            return
        living = [other for other in view.nodes if other not in dead]
        for bucket, owner in plan(living, view.claims, view.hosts).items():
            status = self._status[bucket]
            if owner == node and status is Status.CLOSING:
                self._serve(bucket)
            elif owner == node and status is Status.AWAY and view.free(bucket, node):
                if first or self._again or view.wanted(bucket):
                    self._take.append(bucket)
            elif owner != node and status is Status.SERVED:
                self._status[bucket] = Status.CLOSING
                self._copy.close_hosts(bucket, self._clock())

    def put(self, parts: dict[str, Any], *, look: bool) -> None:
        """Add the requested buckets, and those that can be given away, to a batch."""
        if self._counted:
            parts["gone_crashed"] = {b: k for b, k in self._counted.items() if self._route.mine[b]}
            self._counted = {}
        if look:
            self._put_weights(parts)
        if left := self._leave():
            parts["left"] = left
        if self._take:
            parts["take"], self._take = self._take, []

    def _leave(self) -> dict[int, str]:
        """Start leaving closing buckets without leases; return their queue sizes as text."""
        closing = [b for b in range(BUCKETS) if self.closing(b)]
        if not closing:
            return {}
        if not self._leaving:
            busy = self._copy.busy(closing)
            closing = self._copy.first_buckets([b for b in closing if b not in busy], GIVE_BATCH)
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

    def confirm_given(self) -> None:
        """Evict the buckets that were given away, after the acknowledgement of Redis."""
        gone = [b for b, status in enumerate(self._status) if status is Status.LEAVING]
        for bucket in gone:
            self._status[bucket] = Status.AWAY
            self._weights.pop(bucket, None)
        if gone and not self._leaving:
            self._copy.evict(gone)

    def accept(self, taken: list[tuple[int, bytes, int]]) -> None:
        """Load or serve buckets granted by Redis: (bucket, queue sizes or -1, size)."""
        for bucket, left, size in taken:
            if self._status[bucket] is not Status.AWAY:
                continue
            if size:
                self._status[bucket] = Status.LOADING
                self._loads.append((bucket, left == b"-1"))
            else:
                self._serve(bucket)

    def _serve(self, bucket: int) -> None:
        self.served_count += 1
        self._status[bucket] = Status.SERVED
        self._route.serve(bucket, mine=True)
        self._copy.open_hosts(bucket, self._clock())


def rank(bucket: int, node: int) -> int:
    """Return the weight of a node for a bucket; the node with the highest weight is preferred.

    This is highest-random-weight hashing (Thaler, Ravishankar 1998).
    """
    return xxh3_64_intdigest(f"{bucket} {node}".encode())


def plan(
    nodes: Sequence[int], claims: Mapping[int, int], hosts: Mapping[int, int]
) -> dict[int, int]:
    """Return the node that should serve each bucket; empty without nodes.

    A bucket stays with its node unless a load differs from the mean by more than ``TOLERANCE``. A
    free bucket is assigned to the node with the highest ``rank`` among those with capacity
    (rendezvous hashing with bounded loads: Mirrokni, Thorup, Zadimoghaddam 2018). The same view
    gives the same plan on all nodes.

    Args:
        nodes: Epochs of the nodes that are alive.
        claims: Bucket to the node that has it.
        hosts: Bucket to the number of hosts recorded there.

    >>> sorted(set(plan([1, 2], {}, {}).values()))
    [1, 2]
    """
    if not nodes:
        return {}
    weights = {bucket: 1 + HOST_WEIGHT * hosts.get(bucket, 0) for bucket in range(BUCKETS)}
    mean = sum(weights.values()) / len(nodes)
    load = dict.fromkeys(sorted(nodes), 0)
    result: dict[int, int] = {}
    for bucket, node in claims.items():
        if node in load:
            result[bucket] = node
            load[node] += weights[bucket]
    free = [bucket for bucket in range(BUCKETS) if bucket not in result]
    for bucket in sorted(free, key=lambda b: (-weights[b], b)):
        room = [node for node in load if load[node] + weights[bucket] <= mean] or [
            min(load, key=lambda node: (load[node], node))
        ]
        node = max(room, key=lambda node: rank(bucket, node))
        result[bucket] = node
        load[node] += weights[bucket]
    _even_out(result, load, weights, mean)
    return result


def _even_out(
    result: dict[int, int], load: dict[int, int], weights: Mapping[int, int], mean: float
) -> None:
    """Move buckets from the most to the least loaded node while their loads differ too much."""
    while True:
        full = max(load, key=lambda node: (load[node], node))
        empty = min(load, key=lambda node: (load[node], node))
        if load[full] <= mean * (1 + TOLERANCE) and load[empty] >= mean * (1 - TOLERANCE):
            return
        gap = (load[full] - load[empty]) // 2
        owned = (bucket for bucket, node in result.items() if node == full)
        movable = [(weights[bucket], bucket) for bucket in owned if weights[bucket] <= gap]
        if not movable:
            return
        weight, bucket = max(movable)
        result[bucket] = empty
        load[full] -= weight
        load[empty] += weight
