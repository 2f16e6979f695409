"""Hosts of one lane by their best URLs: a heap for each range of costs, and one of the ranges.

One heap of fifty thousand hosts is sixteen levels of cold memory; that of a range has few. The
order is exact: ranges do not overlap, and a host stands where its best URL belongs, or before. One
that got worse is moved when it comes to the front, not each time.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush, heapreplace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from topiccrawl.frontier.places import Best, Unit

RANGE_BITS = 18
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
        self._ranges: dict[int, list[Best]] = {}
        self._numbers: list[int] = []
        self._most: dict[int, int] = {}

    def push(self, best: Best) -> None:
        """Enter a host by its best URL, which is better than what it is listed with."""
        number = int(best[0]) >> RANGE_BITS
        heap = self._ranges.get(number)
        if heap is None:
            heap = self._ranges[number] = []
            self._most[number] = SLACK
            heappush(self._numbers, number)
        lane = self._lane
        best[2].host.listed[lane] = best
        heappush(heap, best)
        if len(heap) > self._most[number]:
            heap[:] = [entry for entry in heap if entry[2].host.listed[lane] is entry]
            heapify(heap)
            self._most[number] = 2 * len(heap) + SLACK

    def first(self) -> Unit | None:
        """The unit with the best URL of all; what stands before it and counts no more goes."""
        lane, numbers = self._lane, self._numbers
        while numbers:
            heap = self._ranges[numbers[0]]
            while heap:
                entry = heap[0]
                host = entry[2].host
                if host.listed[lane] is not entry:
                    heappop(heap)
                    continue
                best = host.best[lane]
                if best is None or not host.ready:
                    host.listed[lane] = None
                    heappop(heap)
                elif best == entry:
                    return entry[2]
                elif int(best[0]) >> RANGE_BITS == numbers[0]:
                    host.listed[lane] = best
                    heapreplace(heap, best)
                else:
                    heappop(heap)
                    self.push(best)
            del self._ranges[numbers[0]], self._most[numbers[0]]
            heappop(numbers)
        return None
