"""What is still to come: the values of the best URLs that are queued."""

from __future__ import annotations

from heapq import merge, nsmallest
from itertools import islice
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from topiccrawl.frontier.rows import TOP

if TYPE_CHECKING:
    from collections.abc import Iterator

    from topiccrawl.frontier.places import Unit
    from topiccrawl.frontier.state import State


@runtime_checkable
class Outlook(Protocol):
    """A frontier that can tell its best values."""

    def best(self, n: int) -> list[float]:
        """Values of the n best queued URLs, bias included, best first, whatever their host waits.

        Both lanes count alike; URLs that wait for a time of their own (a retry) don't.
        """
        ...


def best_values(state: State, n: int) -> list[float]:
    """See ``Outlook.best``; costs a look at every unit and at most n of its entries."""
    heads = [
        ((head >> 32) - unit.bias, lane, unit)
        for host in state.places.hosts
        for unit in host.units
        for lane, head in enumerate(unit.heads)
        if head is not None
    ]
    leading = nsmallest(n, heads, key=lambda entry: entry[0])
    lines = [islice(_costs(unit, lane), n) for _, lane, unit in leading]
    return [(TOP - cost) / TOP for cost in islice(merge(*lines), n)]


def _costs(unit: Unit, lane: int) -> Iterator[float]:
    """What the entries of a unit's lane cost, least first: the best value costs nothing."""
    for entry in unit.orders[lane] or ():
        yield (entry >> 32) - unit.bias
