"""Numbers of keys: a dictionary that is a table of hashes in columns."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from xxhash import xxh3_64_digest

from topiccrawl.frontier import index as indices
from topiccrawl.frontier.columns import Column
from topiccrawl.frontier.index import KEYS, Index

numbers = st.integers(1, 60)
words = st.integers(0, 40)


def key(word: int) -> bytes:
    """Digests of few kinds: they meet in the same slots, and at the end of their pages."""
    return bytes([word % 3, 0, 0, 0]) + (word << 58 | 4094 + word % 4).to_bytes(8, "little")


@settings(max_examples=200)
@given(steps=st.lists(st.tuples(words, numbers), max_size=120), again=st.booleans())
def test_it_is_a_dictionary(*, steps: list[tuple[int, int]], again: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(indices, "FULL", 6)
        known: dict[int, int] = {}
        index = Index()
        for word, number in steps:
            if word in known:
                index.remove(known.pop(word))
            elif number not in known.values():
                index.add(key(word), number)
                known[word] = number
            elif again:
                index = copied(index)
        assert index.find_many([key(word) for word in range(41)]) == [
            known.get(word, 0) for word in range(41)
        ]
        assert all(index.find(key(word)) == number for word, number in known.items())
        assert all(index.key(number) == key(word) for word, number in known.items())
        assert [index.has(number) for number in range(61)] == [
            number in known.values() for number in range(61)
        ]
        assert index.known == len(known)
        assert index.numbers().tolist() == sorted(known.values())
        assert index.numbers([0, 2]).tolist() == sorted(n for w, n in known.items() if w % 3 != 1)
        assert index.after(20, 5) == sorted(n for n in known.values() if n > 20)[:5]


def copied(index: Index) -> Index:
    """What a reader makes of the same numbers and keys."""
    other, found = Index(), index.numbers()
    other.enter(other.name(found, np.frombuffer(index.keys(found), KEYS)))
    return other


def test_many_keys_split_pages_and_are_all_found() -> None:
    keys = [b"%04d" % (n % 50) + xxh3_64_digest(b"%d" % n) for n in range(30_000)]
    index = Index()
    for first in range(0, len(keys), 100):
        index.add_many(keys[first : first + 100], first + 1)
    assert index.find_many(keys) == list(range(1, len(keys) + 1))
    assert copied(index).find_many(keys) == list(range(1, len(keys) + 1))
    unknown = [xxh3_64_digest(b"x%d" % n) + b"0000" for n in range(1000)]
    assert not any(index.find_many(unknown))


def test_numbers_far_apart_cost_nothing_between_them() -> None:
    index = Index()
    index.add(b"host" + bytes(range(8)), 2**32 - 1)
    index.add(b"host" + bytes(range(1, 9)), 1)
    assert index.numbers().tolist() == [1, 2**32 - 1]
    assert index.find(b"host" + bytes(range(8))) == 2**32 - 1


def test_a_column_keeps_what_it_holds_when_it_grows() -> None:
    column = Column("I")
    column.cells[7] = 5
    column.reach(10_000_000)
    assert column.cells[7] == column.array[7] == 5
    assert not column.array[8:100].any()
