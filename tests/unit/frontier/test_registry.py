"""Tests of the host registry: storage of hosts, units and statistics, and memory per host."""

from __future__ import annotations

import gc
import random
import tracemalloc
from typing import TYPE_CHECKING

import hypothesis.strategies as st
from hypothesis import HealthCheck, given, settings

from tests.contracts.strategies import Plain
from topiccrawl.frontier.contract import Ending, Limits, Outcome, Politeness, Seed
from topiccrawl.frontier.embedded import EmbeddedFrontier
from topiccrawl.frontier.hosts import HostRegistry
from topiccrawl.frontier.store import Store
from topiccrawl.links.strategies.contract import GroupStats
from topiccrawl.model import Offer

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

NAMES = ["a", "a/b", "新闻", "", "a\0b", "a b", "\ud800", "?", "c"]


def contents_of(registry: HostRegistry) -> list[object]:
    return [
        (
            host.name, host.next_at, host.stats, host.groups,
            [(unit.origin.name, unit.groups) for unit in host.units],
        )
        for host in registry.hosts
    ]  # fmt: skip


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 2**32))
def test_reopened_registry_is_equal(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    rng, folder = random.Random(seed), tmp_path_factory.mktemp("frontier")  # noqa: S311
    store = Store(folder, sync="never")
    registry = HostRegistry(store)
    for _ in range(rng.randrange(60)):
        origin = registry.origin(f"http://h{rng.randrange(3)}.cn:{rng.choice((80, 81))}/")
        assert origin is not None
        host, groups = origin.host, tuple(rng.sample(NAMES, rng.randrange(3)))
        change = rng.randrange(5)
        if change == 0:
            registry.load_stats(
                host, {name: GroupStats(rng.randrange(9), rng.random()) for name in groups}
            )
        elif change == 1:
            host.next_at = rng.random()
            registry.mark_dirty(host)
        elif change == 2:
            registry.flush()
            store.commit()
        else:
            unit = registry.unit(origin, groups)
            registry.count_page(host, unit.groups, rng.random())
    registry.flush()
    store.commit()
    before = contents_of(registry)
    store.close()
    reopened = Store(folder, sync="never")
    assert contents_of(HostRegistry(reopened)) == before
    reopened.close()


def test_host_without_requests_takes_less_than_1_kb(tmp_path: Path) -> None:
    frontier = EmbeddedFrontier(tmp_path, Plain(), Politeness(robots=False), Limits(), sync="never")
    frontier.push([Seed("http://seed.cn/")])
    (lease,) = frontier.pop()
    offers = [Offer(f"http://host{n}.site.cn/a/", 1, (0.5, 0.0)) for n in range(2000)]
    tracemalloc.start()
    frontier.finish(lease, Outcome(Ending.CRAWLED), offers)
    frontier.commit()
    frontier.registry.by_prefix.clear()  # a cache
    gc.collect()
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size / len(offers) < 1000
    frontier.close()


def test_second_origin_of_a_host_keeps_its_units(tmp_path: Path) -> None:
    registry = HostRegistry(Store(tmp_path, sync="never"))
    origins = [registry.origin(f"{scheme}://a.cn/x") for scheme in ("http", "https")]
    units = {registry.unit(origin, ("g",)).uid for _ in range(4) for origin in origins if origin}
    assert units == {0, 1}
