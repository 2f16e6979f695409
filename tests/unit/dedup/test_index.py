"""Tests of ``KeyIndex``, the index of articles by keys."""

from __future__ import annotations

import random
from array import array

from hypothesis import given
from hypothesis import strategies as st

from topiccrawl.dedup.index import MAX_PER_KEY, KeyIndex

keys = st.integers(0, 2**31)


@given(st.lists(st.lists(keys, max_size=8, unique=True), min_size=1, max_size=20))
def test_article_is_found_by_its_keys(articles: list[list[int]]) -> None:
    index = KeyIndex()
    for number, own in enumerate(articles, 1):
        index.add(number, [*own, 2**31 + number])
    for number, own in enumerate(articles, 1):
        assert number in index.find([*own, 2**31 + number])


def test_growing_tables_keep_all_articles() -> None:
    rng = random.Random(1)  # noqa: S311
    index = KeyIndex()
    articles = [[rng.randrange(2**32) for _ in range(20)] for _ in range(5_000)]
    for number, own in enumerate(articles, 1):
        index.add(number, own)
    assert all(index.find(own) == [number] for number, own in enumerate(articles, 1))
    assert index.bytes / len(articles) < 400


def test_loading_rows_equals_adding_articles() -> None:
    rng = random.Random(2)  # noqa: S311
    articles = [[rng.randrange(2**32) for _ in range(10)] for _ in range(2_000)]
    index, single = KeyIndex(), KeyIndex()
    for number, own in enumerate(articles, 1):
        single.add(number, own)
    rows = [(number, array("I", own).tobytes()) for number, own in enumerate(articles, 1)]
    index.load(rows[:1_500])
    index.load([])
    index.load(rows[1_500:1_600])
    index.load(rows[1_600:])
    assert len(index) == len(single)
    assert all(index.find(own) == single.find(own) for own in articles)


def test_keys_at_the_end_of_a_table_are_found() -> None:
    index = KeyIndex()
    colliding = [0xFFFFFFFF - 1024 * place for place in range(400)]
    for number, key in enumerate(colliding, 1):
        index.add(number, [key])
    assert all(index.find([key]) == [number] for number, key in enumerate(colliding, 1))


def test_oldest_articles_are_deleted_beyond_the_capacity() -> None:
    rng = random.Random(3)  # noqa: S311
    index = KeyIndex(capacity=500)
    articles = [[rng.randrange(2**32) for _ in range(20)] for _ in range(8_000)]
    for number, own in enumerate(articles, 1):
        index.add(number, own)
    assert all(number in index.find(articles[number - 1]) for number in range(7_501, 8_001))
    assert len(index) < 8_000 * 20 / 4


def test_very_frequent_key_finds_no_article() -> None:
    index = KeyIndex()
    for number in range(1, 200):
        index.add(number, [7, number + 1000])
    assert len(index) == MAX_PER_KEY + 199
    assert index.find([7]) == []
    assert index.find([7, 1100]) == [100]


def test_rare_keys_weigh_more_than_frequent_ones() -> None:
    index = KeyIndex()
    for number in range(1, 11):
        index.add(number, [1, 2, 3])
    index.add(11, [1, 99])
    assert index.find([1, 2, 3, 99])[0] == 11
