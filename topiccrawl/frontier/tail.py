"""The long tail: what happens to low values when very much waits.

Once ``most`` URLs wait, a new one enters only if it would be among the ``most`` best; otherwise it
is turned away: counted, not stored, and new again to the next page that offers it. What has entered
stays. So the queue goes on growing, but ever slower: of T URLs offered in any order of values about
most · (1 + ln(T / most)) wait. Seeds and redirects always enter. Values are compared without the
bias of their group, in 256 steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from topiccrawl.frontier.places import Host

STEPS = 256
STEP_BITS = 56
"""Bits of an entry (see ``queues``) below its step."""
LOOKS = 500
"""Questions between two looks at where the bound lies."""


class Tail:
    """Knows which values are too low; costs nothing until half of the bound waits.

    Args:
        most: URLs that may wait before any is turned away; 0 is no bound.
        hosts: All hosts, whose entries are counted when the time comes.

    Attributes:
        counts: Waiting entries by step; empty until half of the bound waits.
    """

    def __init__(self, most: int, hosts: Iterable[Host]) -> None:
        self._most = most
        self._hosts = hosts
        self.counts: list[int] = []
        self._worst = STEPS
        self._asked = 0

    def change(self, entry: int, difference: int) -> None:
        """Note that an entry came (1) or went (-1); only while there are ``counts``."""
        self.counts[entry >> STEP_BITS] += difference

    def near(self, waiting: int) -> bool:
        """Whether half of the bound waits."""
        return self._most > 0 and waiting >= self._most // 2

    def refuses(self, entry: int, waiting: int) -> bool:
        """Whether a new entry is too low, while so many wait."""
        if not self.near(waiting):
            return False
        if not self.counts:
            self._count()
        if waiting < self._most:
            return False
        if self._asked % LOOKS == 0:
            self._worst = self._bound()
        self._asked += 1
        return entry >> STEP_BITS > self._worst

    def _count(self) -> None:
        self.counts = [0] * STEPS
        for host in self._hosts:
            for unit in host.units:
                for order in unit.orders:
                    for entry in order or ():
                        self.counts[entry >> STEP_BITS] += 1

    def _bound(self) -> int:
        """The step in which the last of the best ``most`` lies."""
        left = self._most
        for step, number in enumerate(self.counts):
            left -= number
            if left <= 0:
                return step
        return STEPS
