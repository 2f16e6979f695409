"""Tests of ``Order``, a sorted list of numbers, and of the queue limit."""

from __future__ import annotations

import random
from array import array
from typing import TYPE_CHECKING

import hypothesis.strategies as st
import pytest
from hypothesis import given

from tests.contracts.strategies import Plain
from topiccrawl.frontier import order as orders
from topiccrawl.frontier.contract import Ending, Limits, Outcome, Politeness, Seed
from topiccrawl.frontier.embedded import EmbeddedFrontier
from topiccrawl.frontier.order import Order
from topiccrawl.model import Offer

if TYPE_CHECKING:
    from pathlib import Path

numbers = st.integers(0, 2**64 - 1)


@given(st.lists(st.tuples(st.booleans(), numbers), max_size=80), st.integers(0, 40))
def test_order_is_a_sorted_list(steps: list[tuple[bool, int]], appended: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(orders, "CHUNK", 4)
        order, plain = Order(), list(range(appended, 0, -1))
        order.extend(array("Q", plain).tobytes())
        order.sort()
        for add, number in steps:
            if add and number not in plain:
                order.add(number)
                plain.append(number)
            elif plain:
                order.remove(plain.pop(number % len(plain)))
            assert order.first == min(plain, default=None)
        assert list(order) == sorted(plain)
        assert len(order) == len(plain)


def test_removing_a_missing_number_is_an_error() -> None:
    order = Order()
    order.add(1)
    with pytest.raises(LookupError, match="2 is not"):
        order.remove(2)


def test_queue_beyond_its_limit_keeps_the_best_offers(tmp_path: Path) -> None:
    """Of T offers, about limit x (1 + ln(T / limit)) are queued, including all of the best."""
    quick = Politeness(delay=0.0, jitter=0.0, adaptive=False, robots=False, concurrency=1000)
    rng = random.Random(1)  # noqa: S311
    frontier = EmbeddedFrontier(
        tmp_path, Plain(), quick, Limits(max_queued=500), share=(1, 0), sync="never"
    )
    values: list[float] = []
    for page in range(10):
        scores = [rng.random() / 2 for _ in range(1000)]
        frontier.push([Seed(f"http://a{page}.cn/", 1.0)])
        (lease,) = frontier.pop()
        links = [Offer(f"http://b{page}.cn/{n}", 1, (score, 0.0)) for n, score in enumerate(scores)]
        frontier.finish(lease, Outcome(Ending.CRAWLED), links)
        values += scores
    counts = frontier.counts()
    assert counts["tail"] + counts["normal"] == 10_000
    assert 500 < counts["normal"] < 500 * (1 + 3 + 1)
    best = sorted((value for _, value, _ in frontier.iterate("normal")), reverse=True)[:400]
    assert best == pytest.approx([score + 1 / 64 for score in sorted(values, reverse=True)[:400]])
    frontier.close()
