"""Last view of the whole crawl that a node received."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


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
