"""Hosts of one lane by their best URLs: a heap for each range of costs, and one of the ranges.

One heap of fifty thousand hosts is sixteen levels of cold memory; that of a range has few. The
order is exact: ranges do not overlap.
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

    An entry counts while it is what its host says; it stands here once.

    Args:
        lane: Of its hosts.
    """

    def __init__(self, lane: int) -> None:
        self._lane = lane
        self._ranges: dict[int, list[Entry]] = {}
        self._numbers: list[int] = []
        self._most: dict[int, int] = {}

    def push(self, cost: float, seq: int, host: Host) -> None:
        """Enter a host's best URL."""
        number = int(cost) >> RANGE_BITS
        heap = self._ranges.get(number)
        if heap is None:
            heap = self._ranges[number] = []
            self._most[number] = SLACK
            heappush(self._numbers, number)
        heappush(heap, (cost, seq, host))
        if len(heap) > self._most[number]:
            self._sift(heap)
            self._most[number] = 2 * len(heap) + SLACK

    def first(self) -> Host | None:
        """The host whose best URL is the best; what stands before it and counts no more goes."""
        lane, numbers = self._lane, self._numbers
        while numbers:
            heap = self._ranges[numbers[0]]
            while heap:
                entry = heap[0]
                host = entry[2]
                best = host.best[lane]
                if host.ready and best is not None and best[1] == entry[1] and best[0] == entry[0]:
                    return host
                heappop(heap)
                if host.listed[lane] == entry[:2]:
                    host.listed[lane] = None
            del self._ranges[numbers[0]], self._most[numbers[0]]
            heappop(numbers)
        return None

    def _sift(self, heap: list[Entry]) -> None:
        """Take out of a heap what counts no more."""
        kept: dict[Host, Entry] = {}
        for entry in heap:
            cost, seq, host = entry
            best = host.best[self._lane]
            if host.ready and best is not None and best[1] == seq and best[0] == cost:
                kept[host] = entry
                host.listed[self._lane] = entry[:2]
            elif host.listed[self._lane] == entry[:2]:
                host.listed[self._lane] = None
        heap[:] = kept.values()
        heapify(heap)
