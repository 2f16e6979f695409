"""From the key of a URL to its number, and back: 20 to 28 bytes of RAM a URL.

Extendible hashing: the first bits of a key's digest name a page of the table, the last ones the
slot where the search begins. A page that is full is split in two, so that growing never stops the
caller for longer than it takes to put some thousand numbers in their places.
"""

from __future__ import annotations

from itertools import pairwise
from struct import Struct
from typing import TYPE_CHECKING

import numpy as np

from topiccrawl.frontier.columns import Column

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

KEY = Struct("<IQ")
KEYS = np.dtype([("host", "<u4"), ("digest", "<u8")])
SLOTS = 4096
"""Of a page of the table."""
MASK = SLOTS - 1
LAST = np.uint64(MASK)
FULL = SLOTS // 2
"""Numbers in a page beyond which it is split."""
BITS = 64
FIRSTS = 256
DENSE = 16
"""Of so many numbers at least one is known where they are looked through one by one."""


class Index:
    """Numbers of keys. A number is known while it has a key.

    >>> index = Index()
    >>> index.add(b"host-------1", 7)
    >>> index.find(b"host-------1"), index.find(b"host-------2"), index.key(7)
    (7, 0, b'host-------1')

    Attributes:
        known: How many keys there are.
        top: The largest number ever added.
    """

    def __init__(self) -> None:
        self.known = self.top = 0
        self._hosts = Column("I")
        self._digests = Column("Q")
        self._table = Column("I")
        self._depth = 1
        self._starts = [0, SLOTS]
        self._depths = [1, 1]
        self._filled = [0, 0]
        self._renumber()

    def _renumber(self) -> None:
        self._table.reach(len(self._depths) * SLOTS)
        self._shift = BITS - self._depth
        self._shift_array = np.uint64(self._shift)
        self._starts_array = np.array(self._starts, np.uint64)

    def key(self, number: int) -> bytes:
        """The key of a number that is known."""
        return KEY.pack(self._hosts.cells[number], self._digests.cells[number])

    def has(self, number: int) -> bool:
        """Whether a number is known."""
        return number <= self.top and self._digests.cells[number] != 0

    def hosts(self, numbers: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """What the keys of numbers have of their hosts."""
        return self._hosts.array[numbers]

    def keys(self, numbers: NDArray[np.uint32]) -> bytes:
        """Keys of numbers, joined; zeros for what is not known."""
        found = np.empty(len(numbers), KEYS)
        found["host"] = self._hosts.array[numbers]
        found["digest"] = self._digests.array[numbers]
        return found.tobytes()

    def find(self, key: bytes) -> int:
        """The number of a key, or 0."""
        host, digest = KEY.unpack(key)
        return self._search(host, digest, digest & MASK)

    def _search(self, host: int, digest: int, slot: int) -> int:
        table, digests = self._table.cells, self._digests.cells
        start = self._starts[digest >> self._shift]
        while number := table[start + slot]:
            if digests[number] == digest and self._hosts.cells[number] == host:
                return number
            slot = slot + 1 & MASK
        return 0

    def find_many(self, keys: Sequence[bytes]) -> list[int]:
        """The numbers of keys, each a number or 0."""
        if not keys:
            return []
        wanted = np.frombuffer(b"".join(keys), KEYS)
        digests = wanted["digest"].astype(np.uint64)
        starts = self._starts_array[digests >> self._shift_array]
        numbers = self._table.array[starts + (digests & LAST)]
        same = self._digests.array[numbers] == digests
        same &= self._hosts.array[numbers] == wanted["host"]
        found: list[int] = numbers.tolist()
        for at in (~same).nonzero()[0].tolist():
            if found[at]:
                host, digest = KEY.unpack(keys[at])
                found[at] = self._search(host, digest, digest + 1 & MASK)
        return found

    def add(self, key: bytes, number: int) -> None:
        """Give a key that is not known a number that is free."""
        self.add_many((key,), number)

    def add_many(self, keys: Sequence[bytes], first: int) -> None:
        """Give different keys that are not known the numbers from ``first`` on."""
        self._reach(first + len(keys) - 1)
        self.known += len(keys)
        hosts, digests = self._hosts.cells, self._digests.cells
        for number, key in enumerate(keys, first):
            hosts[number], digests[number] = KEY.unpack(key)
            self._insert(number)

    def _insert(self, number: int) -> None:
        digest = self._digests.cells[number]
        start = self._starts[digest >> self._shift]
        while self._filled[start // SLOTS] >= FULL:
            self._make_room(digest)
            start = self._starts[digest >> self._shift]
        table, slot = self._table.cells, digest & MASK
        while (other := table[start + slot]) and other != number:
            slot = slot + 1 & MASK
        if not other:
            table[start + slot] = number
            self._filled[start // SLOTS] += 1

    def remove(self, number: int) -> None:
        """Forget a number; its slot stays taken until its page is full."""
        self._hosts.cells[number] = self._digests.cells[number] = 0
        self.known -= 1

    def name(self, numbers: NDArray[np.uint32], keys: NDArray[np.void]) -> NDArray[np.uint32]:
        """Give numbers their keys, zeros for none; those that ``enter`` has to be told of."""
        self._reach(int(numbers.max(initial=0)))
        before, now = self._digests.array[numbers], keys["digest"].astype(np.uint64)
        self._hosts.array[numbers] = keys["host"]
        self._digests.array[numbers] = now
        self.known += int(np.count_nonzero(now)) - int(np.count_nonzero(before))
        new: NDArray[np.uint32] = numbers[(now != before) & (now != 0)]
        return new

    def enter(self, numbers: NDArray[np.uint32]) -> None:
        """Let numbers that have their keys be found."""
        numbers = np.unique(numbers)
        numbers = numbers[self._digests.array[numbers] != 0]
        if any(self._filled):
            for number in numbers.tolist():
                self._insert(number)
        else:
            self._fill(numbers)

    def _fill(self, numbers: NDArray[np.uint32]) -> None:
        """Make a table of numbers at once."""
        self._depth = max(1, (len(numbers) // (FULL * 3 // 4)).bit_length())
        self._starts = list(range(0, SLOTS << self._depth, SLOTS))
        self._depths = [self._depth] * len(self._starts)
        self._filled = [0] * len(self._starts)
        self._renumber()
        digests = self._digests.array[numbers]
        turn = np.argsort(digests)
        ends = np.searchsorted(
            digests[turn] >> np.uint64(self._shift),
            np.arange(len(self._starts) + 1, dtype=np.uint64),
        ).tolist()
        for page, (begin, end) in enumerate(pairwise(ends)):
            self._lay(page, numbers[turn[begin:end]])

    def after(self, number: int, most: int) -> list[int]:
        """Known numbers above one, ascending, at most so many."""
        found: list[int] = []
        step = 4 * most
        while number < self.top and len(found) < most:
            window = self._digests.array[number + 1 : min(number + step, self.top) + 1]
            found += (np.flatnonzero(window) + (number + 1)).tolist()
            number += step
            step *= 2
        return found[:most]

    def numbers(self, firsts: Collection[int] = range(FIRSTS)) -> NDArray[np.uint32]:
        """Known numbers, ascending, whose keys have one of these first bytes."""
        if self.top < DENSE * self.known + SLOTS:
            taken = np.flatnonzero(self._digests.array[: self.top + 1]).astype(np.uint32)
        else:
            taken = np.unique(self._table.array[: len(self._depths) * SLOTS])
            taken = taken[self._digests.array[taken] != 0]
        if len(firsts) < FIRSTS:
            wanted = np.zeros(FIRSTS, bool)
            wanted[list(firsts)] = True
            taken = taken[wanted[self._hosts.array[taken] & np.uint32(FIRSTS - 1)]]
        return taken

    def _reach(self, number: int) -> None:
        if number > self.top:
            self.top = number
            self._hosts.reach(number + 1)
            self._digests.reach(number + 1)

    def _make_room(self, digest: int) -> None:
        """Clear the page of a digest of what was removed, or split it."""
        page = self._starts[digest >> self._shift] // SLOTS
        depth = self._depths[page]
        numbers = self._live(page, digest >> BITS - depth)
        if len(numbers) <= FULL // 2:
            self._lay(page, numbers)
            return
        if depth == self._depth:
            self._depth += 1
            self._starts = [start for start in self._starts for _ in (0, 1)]
        new = len(self._depths)
        self._depths.append(depth + 1)
        self._filled.append(0)
        self._depths[page] = depth + 1
        half = 1 << self._depth - depth - 1
        first = (digest >> BITS - depth << self._depth - depth) + half
        self._starts[first : first + half] = [new * SLOTS] * half
        self._renumber()
        upper = self._digests.array[numbers] >> np.uint64(BITS - depth - 1) & np.uint64(1) == 1
        self._lay(page, numbers[~upper])
        self._lay(new, numbers[upper])

    def _live(self, page: int, prefix: int) -> NDArray[np.uint32]:
        """Numbers that stand in a page rightly: one that was removed may have another key now."""
        numbers = self._table.array[page * SLOTS : (page + 1) * SLOTS]
        numbers = np.unique(numbers[numbers != 0])  # a number may stand twice, for two keys it had
        digests = self._digests.array[numbers]
        shift = np.uint64(BITS - self._depths[page])
        live: NDArray[np.uint32] = numbers[(digests != 0) & (digests >> shift == np.uint64(prefix))]
        return live

    def _lay(self, page: int, numbers: NDArray[np.uint32]) -> None:
        """Fill a page with numbers: each in its slot, or in the next one that is free."""
        homes = (self._digests.array[numbers] & np.uint64(MASK)).astype(np.int64)
        turn = np.argsort(homes, kind="stable")
        steps = np.arange(len(numbers))
        slots = np.maximum.accumulate(homes[turn] - steps) + steps
        table = self._table.array[page * SLOTS : (page + 1) * SLOTS]
        table[:] = 0
        inside = slots < SLOTS
        table[slots[inside]] = numbers[turn[inside]]
        beyond = numbers[turn[~inside]]
        table[np.flatnonzero(table == 0)[: len(beyond)]] = beyond
        self._filled[page] = len(numbers)
