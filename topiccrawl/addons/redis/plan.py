"""Assignment of buckets to nodes: even load with the fewest moves."""

from __future__ import annotations

from bisect import bisect_right, insort
from typing import TYPE_CHECKING

from xxhash import xxh3_64_intdigest

from topiccrawl.addons.redis.buckets import BUCKETS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TOLERANCE = 0.05
"""Share of the mean load by which a node may differ before buckets move."""
HOST = 1000
"""Weight of a recorded host; an empty bucket weighs 1, so that none counts as a host."""


def rank(bucket: int, node: int) -> int:
    """Weight of a node for a bucket; the highest random weight wins (Thaler, Ravishankar 1998)."""
    return xxh3_64_intdigest(f"{bucket} {node}".encode())


def plan(
    nodes: Sequence[int], claims: Mapping[int, int], hosts: Mapping[int, int]
) -> dict[int, int]:
    """Return the node that should serve each bucket; empty without nodes.

    A bucket stays with its node unless a load differs from the mean by more than ``TOLERANCE``.
    A free one goes to the node of the highest ``rank`` among those with room (rendezvous hashing
    with bounded loads: Mirrokni, Thorup, Zadimoghaddam 2018). The same view gives the same plan on
    all nodes.

    Args:
        nodes: Epochs of the nodes that are alive.
        claims: Bucket to the node that has it.
        hosts: Bucket to the number of hosts recorded there.

    >>> sorted(set(plan([1, 2], {}, {}).values()))
    [1, 2]
    """
    if not nodes:
        return {}
    weights = {bucket: 1 + HOST * hosts.get(bucket, 0) for bucket in range(BUCKETS)}
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
    """Move buckets from the fullest node to the emptiest while their loads differ too much."""
    owned: dict[int, list[tuple[int, int]]] = {node: [] for node in load}
    for bucket, node in result.items():
        insort(owned[node], (weights[bucket], bucket))
    while True:
        full = max(load, key=lambda node: (load[node], node))
        empty = min(load, key=lambda node: (load[node], node))
        if load[full] <= mean * (1 + TOLERANCE) and load[empty] >= mean * (1 - TOLERANCE):
            return
        gap = (load[full] - load[empty]) // 2
        at = bisect_right(owned[full], (gap, BUCKETS))
        if at == 0:
            return
        moved = owned[full].pop(at - 1)
        insort(owned[empty], moved)
        result[moved[1]] = empty
        load[full] -= moved[0]
        load[empty] += moved[0]
