"""Properties of the plan: all buckets are served, evenly, and few move."""

from __future__ import annotations

import hypothesis.strategies as st
from hypothesis import given

from topiccrawl.addons.redis.buckets import BUCKETS
from topiccrawl.addons.redis.partitions import HOST_WEIGHT, TOLERANCE, plan

nodes = st.lists(st.integers(1, 50), min_size=1, max_size=8, unique=True)
hosts = st.dictionaries(st.integers(0, BUCKETS - 1), st.integers(0, 5))


def load(shares: dict[int, int], known: dict[int, int], node: int) -> int:
    return sum(1 + HOST_WEIGHT * known.get(b, 0) for b, owner in shares.items() if owner == node)


@given(nodes=nodes, known=hosts, claims=st.dictionaries(st.integers(0, 255), st.integers(1, 60)))
def test_every_bucket_has_one_node_and_loads_are_even(
    nodes: list[int], known: dict[int, int], claims: dict[int, int]
) -> None:
    shares = plan(nodes, claims, known)
    assert sorted(shares) == list(range(BUCKETS))
    assert set(shares.values()) <= set(nodes)
    loads = [load(shares, known, node) for node in nodes]
    heaviest = max(1 + HOST_WEIGHT * n for n in [0, *known.values()])
    mean = sum(loads) / len(loads)
    assert max(loads) - min(loads) <= 2 * heaviest + 2 * TOLERANCE * mean
    assert shares == plan(list(reversed(nodes)), claims, known), "all nodes plan the same"


@given(nodes=nodes, known=hosts)
def test_plan_is_stable(nodes: list[int], known: dict[int, int]) -> None:
    shares = plan(nodes, {}, known)
    assert plan(nodes, shares, known) == shares


@given(nodes=nodes)
def test_other_nodes_keep_their_buckets_when_one_leaves(nodes: list[int]) -> None:
    shares = plan(nodes, {}, {})
    rest = nodes[1:]
    kept = {bucket: node for bucket, node in shares.items() if node in rest}
    moved = plan(rest, kept, {})
    assert all(moved[bucket] == node for bucket, node in kept.items() if rest)


def test_plan_without_nodes_is_empty() -> None:
    assert plan([], {1: 2}, {}) == {}


def test_hosts_are_divided_evenly_despite_empty_buckets() -> None:
    known = dict.fromkeys(range(0, 240, 8), 1)
    for claims in ({}, dict.fromkeys(range(BUCKETS), 1), dict.fromkeys(known, 1)):
        shares = plan([1, 2, 3], claims, known)
        served = [sum(shares[bucket] == node for bucket in known) for node in (1, 2, 3)]
        assert max(served) - min(served) <= 2
