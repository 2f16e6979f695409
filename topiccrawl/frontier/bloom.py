"""Digests remembered in two or three bytes each: a chain of Bloom filters (Bloom 1970).

A filter is filled as far as its share of the error allows, then the next one begins, twice as large
up to ``LARGEST``. The n-th of a chain may err for 1 / (n (n + 1)) of the chain's error: all of them
together never err for more, however long it grows. (Scalable Bloom filters, Almeida, Baquero,
Preguiça, Hutchison 2007, whose shares fall geometrically; these cost long chains fewer bits.)
"""

from __future__ import annotations

from math import ceil, log, log2
from struct import Struct
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterable

SMALLEST, LARGEST = 4 << 10, 256 << 10
"""Bytes of the first filter of a chain, and of its largest ones; powers of two."""
HEAD = Struct("<IB3x")


def share_of(error: float, place: int) -> float:
    """What the filter at a place of a chain, from 0, may err of the chain's error.

    >>> sum(share_of(0.01, place) for place in range(10_000)) < 0.01
    True
    """
    return error / ((place + 1) * (place + 2))


class Filter:
    """One Bloom filter of 64-bit digests that are uniform already.

    Args:
        bits: Its bits, a power of two of them.
        hashes: Bits set for each digest.
        held: Digests in it.
    """

    __slots__ = ("_mask", "bits", "hashes", "held")

    def __init__(self, bits: bytearray, hashes: int, held: int = 0) -> None:
        self.bits = bits
        self.hashes = hashes
        self.held = held
        self._mask = 8 * len(bits) - 1

    @classmethod
    def made(cls, place: int, error: float) -> Self:
        """The filter, still empty, at a place of a chain with this error."""
        size = min(SMALLEST << min(place, 32), LARGEST)
        return cls(bytearray(size), ceil(-log2(share_of(error, place))))

    @classmethod
    def unpack(cls, data: bytes) -> Self:
        """The filter that ``pack`` gave."""
        held, hashes = HEAD.unpack_from(data)
        return cls(bytearray(data[HEAD.size :]), hashes, held)

    def pack(self) -> bytes:
        """The filter as it is kept."""
        return HEAD.pack(self.held, self.hashes) + self.bits

    def most(self, error: float) -> int:
        """Digests that may be in it for an error: (1 - e^(-hashes n / bits))^hashes."""
        return int(-8 * len(self.bits) / self.hashes * log(1 - error ** (1 / self.hashes)))

    def add(self, digest: int) -> None:
        """Remember a digest."""
        bits, mask = self.bits, self._mask
        place, step = digest & mask, digest >> 32 & mask
        for turn in range(self.hashes):  # enhanced double hashing (Dillinger, Manolios 2004)
            bits[(place & mask) >> 3] |= 1 << (place & 7)
            place += step
            step += turn
        self.held += 1

    def __contains__(self, digest: int) -> bool:
        bits, mask = self.bits, self._mask
        place, step = digest & mask, digest >> 32 & mask
        for turn in range(self.hashes):
            if not bits[(place & mask) >> 3] >> (place & 7) & 1:
                return False
            place += step
            step += turn
        return True


class Chain:
    """Bloom filters one after the other.

    >>> chain = Chain()
    >>> chain.add([3, 5 << 40], 0.001)
    [0]
    >>> 3 in chain, 4 in chain, 5 << 40 in chain
    (True, False, True)

    Attributes:
        filters: Those there are; digests are added to the last one.
    """

    def __init__(self) -> None:
        self.filters: list[Filter] = []

    def __contains__(self, digest: int) -> bool:
        return any(digest in one for one in self.filters)

    def add(self, digests: Iterable[int], error: float) -> list[int]:
        """Remember digests; places of the filters that changed.

        Of digests never added, ``error`` at most are taken for remembered.
        """
        changed: dict[int, None] = {}
        room = self._room(error)
        for digest in digests:
            if digest in self:
                continue
            if room <= 0:
                self.filters.append(Filter.made(len(self.filters), error))
                room = self._room(error)
            self.filters[-1].add(digest)
            room -= 1
            changed[len(self.filters) - 1] = None
        return list(changed)

    def _room(self, error: float) -> int:
        if not self.filters:
            return 0
        last = self.filters[-1]
        return last.most(share_of(error, len(self.filters) - 1)) - last.held
