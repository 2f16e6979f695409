"""Tests of the Bloom filters of evicted URLs: membership, error rate and size."""

from __future__ import annotations

import random
from contextlib import closing
from typing import TYPE_CHECKING

import hypothesis.strategies as st
import pytest
from hypothesis import given

from topiccrawl.frontier.seen import HEAD, LARGEST, SMALLEST, Filter, Seen, share_of
from topiccrawl.frontier.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

keys = st.binary(min_size=11, max_size=11).map(lambda rest: b"k" + rest)
BUCKET = ord("k")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bloom")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(Store(tmp_path)) as store:
        yield store


def random_keys(rng: random.Random, count: int) -> list[bytes]:
    return [b"k" + rng.randbytes(11) for _ in range(count)]


def filters_in(store: Store) -> list[Filter]:
    return [Filter.unpack(data) for _, data in store.items("seen")]


@given(st.sets(keys, max_size=300), st.sampled_from([0.1, 0.001, 1e-6]))
def test_added_keys_are_always_found(folder: Path, added: set[bytes], error: float) -> None:
    with closing(Store(folder)) as store:
        seen = Seen(store, error)
        seen.add(BUCKET, added)
        assert all(key in seen for key in added)
        held = [item.held for item in filters_in(store)]
        seen.add(BUCKET, added)
        assert [item.held for item in filters_in(store)] == held  # adding again changes nothing
        reopened = Seen(store, error)
        assert all(key in reopened for key in added)


@pytest.mark.parametrize(
    ("error", "added", "asked"),
    [(0.1, 60_000, 20_000), (0.01, 60_000, 60_000), (0.001, 40_000, 150_000)],
)
def test_false_positive_share_stays_below_the_stated_error(
    store: Store, error: float, added: int, asked: int
) -> None:
    rng = random.Random(7)  # noqa: S311
    seen = Seen(store, error)
    for _ in range(added // 500):
        seen.add(BUCKET, random_keys(rng, 500))
    number = len(filters_in(store))
    assert number > 3
    found = sum(key in seen for key in random_keys(rng, asked))
    expected = error * (1 - 1 / (number + 1))
    assert found <= expected * asked + 4 * (expected * asked) ** 0.5
    assert found >= expected * asked / 4, "there is more room than the error asks for"


def test_error_shares_sum_to_the_error() -> None:
    shares = [share_of(0.01, place) for place in range(1000)]
    assert 0.0099 < sum(shares) < 0.01
    assert shares == sorted(shares, reverse=True)


def test_filter_size_doubles_up_to_a_limit() -> None:
    sizes = [len(Filter.empty(place, 0.001).bits) for place in (0, 1, 5, 6, 7, 4000)]
    assert sizes == [SMALLEST, 2 * SMALLEST, 32 * SMALLEST, LARGEST, LARGEST, LARGEST]
    held = sum(Filter.empty(at, 0.001).most(share_of(0.001, at)) for at in range(7))
    room = sum(len(Filter.empty(at, 0.001).pack()) for at in range(7))
    assert 1.8 < room / held < 3.0
    assert HEAD.size == 8


def test_smaller_error_starts_a_new_filter(store: Store) -> None:
    rng = random.Random(7)  # noqa: S311
    Seen(store, 0.1).add(BUCKET, random_keys(rng, 2000))
    assert len(filters_in(store)) == 1
    Seen(store, 1e-6).add(BUCKET, random_keys(rng, 1))
    first, second = filters_in(store)
    assert (first.held, second.held) == (2000, 1)
    assert second.hashes > first.hashes
