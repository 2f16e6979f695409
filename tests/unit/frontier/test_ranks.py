"""Property of ``ReadyHosts``: it returns the best host that is ready."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import hypothesis.strategies as st
from hypothesis import HealthCheck, given, settings

from tests.contracts.strategies import Plain
from topiccrawl.frontier.contract import Limits, Politeness
from topiccrawl.frontier.hosts import Host, HostRegistry, Origin
from topiccrawl.frontier.order import Unit
from topiccrawl.frontier.politeness import HostClock
from topiccrawl.frontier.ready import ReadyHosts
from topiccrawl.frontier.store import Store

if TYPE_CHECKING:
    import pytest

COSTS = [0.0, 1.0, 2.5, 1e6, 1.1e6, 2e9, 4e9]


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 2**32))
def test_best_is_the_best_ready_host(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311
    hosts = [Host(number, f"h{number}.cn") for number in range(6)]
    units = [Unit(0, Origin(f"http://{host.name}", host), ()) for host in hosts]
    store = Store(tmp_path_factory.mktemp("frontier"), sync="never")
    registry = HostRegistry(store)
    registry.hosts += hosts
    ready = ReadyHosts(HostClock(Politeness(concurrency=1), Limits(), rng), registry, Plain())
    for unit in units:
        unit.host.units += (unit,)
    for turn in range(200):
        host, lane = rng.choice(hosts), rng.randrange(2)
        change = rng.randrange(4)
        if change == 0:
            host.active = 1 - host.active
            ready.reschedule(host, 1.0)
        elif change == 1:
            for number in [*units[host.id].orders[lane]]:
                units[host.id].order(lane).remove(number)
            ready.rank(host, lane)
        else:  # any other cost
            units[host.id].bias = rng.choice((0.0, 0.5, -3.0))
            ready.rank(host)
            units[host.id].order(lane).add(int(rng.choice(COSTS)) << 32 | turn + 1)
            ready.rank(host, lane)
        for other in (0, 1):
            candidates = [best for host in hosts if host.ready and (best := host.best(other))]
            assert ready.best(other) is min(candidates, default=None)
    store.close()
