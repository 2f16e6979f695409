"""Hosts of one lane by their best URLs: a heap for each range of costs, and one of the ranges.

One heap of fifty thousand hosts is sixteen levels of cold memory; that of a range has few. The
order is exact: ranges do not overlap, and a host stands where its best URL belongs, or before. One
that got worse is moved when it comes to the front, not each time.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from topiccrawl.frontier.places import Host

    Entry = tuple[float, int, Host]
    """Cost, arrival number and host."""

RANGE_BITS = 20
"""Of a cost, which has 32, that say nothing of its range."""
SLACK = 16


class Ranks:
    """Entries in their order, those that count no more among them until they come to the front.

    An entry counts while it is the one listed by its host.

    Args:
        lane: Of its hosts.
    """

    def __init__(self, lane: int) -> None:
        self._lane = lane
        self._ranges: dict[int, list[Entry]] = {}
        self._numbers: list[int] = []
        self._most: dict[int, int] = {}

    def push(self, cost: float, seq: int, host: Host) -> None:
        """Enter a host's best URL, which is better than what it is listed with."""
        number = int(cost) >> RANGE_BITS
        heap = self._ranges.get(number)
        if heap is None:
            heap = self._ranges[number] = []
            self._most[number] = SLACK
            heappush(self._numbers, number)
        host.listed[self._lane] = entry = (cost, seq, host)
        heappush(heap, entry)
        if len(heap) > self._most[number]:
            heap[:] = [entry for entry in heap if entry[2].listed[self._lane] is entry]
            heapify(heap)
            self._most[number] = 2 * len(heap) + SLACK

    def first(self) -> Host | None:
        """The host whose best URL is the best; what stands before it and counts no more goes."""
        lane, numbers = self._lane, self._numbers
        while numbers:
            heap = self._ranges[numbers[0]]
            while heap:
                cost, seq, host = entry = heap[0]
                best = host.best[lane]
                listed = host.listed[lane] is entry
                if listed and host.ready and best is not None:
                    if best[1] == seq and best[0] == cost:
                        return host
                    heappop(heap)
                    self.push(best[0], best[1], host)
                    continue
                heappop(heap)
                if listed:
                    host.listed[lane] = None
            del self._ranges[numbers[0]], self._most[numbers[0]]
            heappop(numbers)
        return None
