"""The error of a chain of Bloom filters stays below what is stated, however long it grows."""

from __future__ import annotations

import random

import hypothesis.strategies as st
import pytest
from hypothesis import given

from topiccrawl.frontier.seen import HEAD, LARGEST, SMALLEST, Chain, Filter, share_of

digests = st.integers(0, (1 << 64) - 1)


@given(st.sets(digests, max_size=300), st.sampled_from([0.1, 0.001, 1e-6]))
def test_what_was_added_is_always_there(added: set[int], error: float) -> None:
    chain = Chain()
    chain.add(added, error)
    assert all(digest in chain for digest in added)
    kept = [Filter.unpack(one.pack()) for one in chain.filters]
    assert all(any(digest in one for one in kept) for digest in added)
    assert chain.add(added, error) == []  # twice is once


@pytest.mark.parametrize(
    ("error", "added", "asked"),
    [(0.1, 60_000, 20_000), (0.01, 60_000, 60_000), (0.001, 40_000, 150_000)],
)
def test_of_what_was_never_added_no_more_than_the_stated_share_is_found(
    error: float, added: int, asked: int
) -> None:
    rng = random.Random(7)  # noqa: S311
    chain = Chain()
    for _ in range(added // 500):
        chain.add([rng.getrandbits(64) for _ in range(500)], error)
    assert len(chain.filters) > 3
    found = sum(rng.getrandbits(64) in chain for _ in range(asked))
    expected = error * (1 - 1 / (len(chain.filters) + 1))
    assert found <= expected * asked + 4 * (expected * asked) ** 0.5
    assert found >= expected * asked / 4, "there is more room than the error asks for"


def test_shares_of_the_error_add_up_to_it() -> None:
    shares = [share_of(0.01, place) for place in range(1000)]
    assert 0.0099 < sum(shares) < 0.01
    assert shares == sorted(shares, reverse=True)


def test_filters_grow_up_to_a_size_and_cost_so_much() -> None:
    sizes = [len(Filter.empty(place, 0.001).bits) for place in (0, 1, 5, 6, 7, 4000)]
    assert sizes == [SMALLEST, 2 * SMALLEST, 32 * SMALLEST, LARGEST, LARGEST, LARGEST]
    held = sum(Filter.empty(at, 0.001).most(share_of(0.001, at)) for at in range(7))
    room = sum(len(Filter.empty(at, 0.001).pack()) for at in range(7))
    assert 1.8 < room / held < 3.0
    assert HEAD.size == 8


def test_a_smaller_error_asked_for_later_begins_another_filter() -> None:
    rng = random.Random(7)  # noqa: S311
    chain = Chain()
    chain.add([rng.getrandbits(64) for _ in range(2000)], 0.1)
    assert len(chain.filters) == 1
    assert chain.add([rng.getrandbits(64)], 1e-6) == [1]
    assert chain.filters[1].hashes > chain.filters[0].hashes
