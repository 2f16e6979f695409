"""Limits of memory: eviction of settled URLs, whose keys Bloom filters remember.

Each first byte of a key (a *bucket*) has a chain of filters, stored as they are. The filters ensure
that no evicted URL is fetched again; a configured share of new URLs is mistaken for evicted ones. A
filter (Bloom 1970) is filled until its share of the error is used up, then the next one begins,
twice as large up to ``LARGEST``. The n-th filter of a chain has 1 / (n (n + 1)) of the chain's
error, so the sum never exceeds it, however long the chain grows. In scalable Bloom filters
(Almeida, Baquero, Preguiça, Hutchison 2007) the shares fall geometrically; the shares used here
cost long chains fewer bits. The bits are part of exports and of the state that nodes share, so no
library is used.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import accumulate, islice
from math import ceil, log, log2
from struct import Struct
from typing import TYPE_CHECKING, Self

from topiccrawl.frontier.rows import CRAWLED, LOW_VALUE, LOW_VALUE_REASON, QUEUED, decode

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from topiccrawl.frontier.hosts import Host
    from topiccrawl.frontier.queues import Queues
    from topiccrawl.frontier.store import Store

SMALLEST, LARGEST = 4 << 10, 256 << 10
"""Bytes of the first filter of a chain, and of the largest ones; powers of two."""
HEAD = Struct("<IB3x")
NAME = Struct(">BH")
"""Key of a stored filter: its bucket, and its index in the chain."""
DIGEST = Struct("<4xQ")
"""Uniform bits of a key, without the bits of its bucket."""
SCAN_LIMIT = 500
"""Maximum number of rows read in one call: a millisecond or two."""
BATCH = 500
"""Maximum number of URLs of a bucket that are added to its filters at once."""
SPARE = 64
"""Divisor of the limit: this part may be settled records that the scan has not found yet."""
BUCKETS = 256
STEPS = 256
STEP_BITS = 56
"""Low bits of an entry that do not affect its step of value."""
BOUND_PERIOD = 500
"""Queries between two updates of the lowest accepted step."""


def share_of(error: float, place: int) -> float:
    """Return the share of a chain's error for the filter at an index, from 0.

    >>> sum(share_of(0.01, place) for place in range(10_000)) < 0.01
    True
    """
    return error / ((place + 1) * (place + 2))


class Filter:
    """Bloom filter of 64-bit digests that are uniformly distributed already.

    Args:
        bits: Bits of the filter; their number is a power of two.
        hashes: Bits set for each digest.
        held: Number of digests in the filter.
    """

    __slots__ = ("_mask", "bits", "hashes", "held")

    def __init__(self, bits: bytearray, hashes: int, held: int = 0) -> None:
        self.bits, self.hashes, self.held = bits, hashes, held
        self._mask = 8 * len(bits) - 1

    @classmethod
    def empty(cls, place: int, error: float) -> Self:
        """Create the empty filter at an index of a chain with this error."""
        size = min(SMALLEST << min(place, 32), LARGEST)
        return cls(bytearray(size), ceil(-log2(share_of(error, place))))

    @classmethod
    def unpack(cls, data: bytes) -> Self:
        """Return the filter from the result of ``pack``."""
        held, hashes = HEAD.unpack_from(data)
        return cls(bytearray(data[HEAD.size :]), hashes, held)

    def pack(self) -> bytes:
        """Return the stored form of the filter."""
        return HEAD.pack(self.held, self.hashes) + self.bits

    def most(self, error: float) -> int:
        """Return the maximum number of digests for an error: (1 - e^(-hashes n / bits))^hashes."""
        return int(-8 * len(self.bits) / self.hashes * log(1 - error ** (1 / self.hashes)))

    def add(self, digest: int) -> None:
        """Add a digest."""
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


class Seen:
    """Filters of evicted URLs, a chain for each bucket; looked up for each URL without a record.

    Args:
        store: Store of the filters.
        error: Largest share of new URLs that may be mistaken for evicted ones, in (0, 1).
        bucket: Bucket to which lookups are restricted; b"" for all.
    """

    def __init__(self, store: Store, error: float = 0.001, bucket: bytes = b"") -> None:
        self._store, self._error = store, error
        self._chains: defaultdict[int, list[Filter]] = defaultdict(list)
        for name, data in store.items("seen", bucket, size=1):
            self.load(name, data)

    def __bool__(self) -> bool:
        """Check whether any URL was evicted."""
        return bool(self._chains)

    def __contains__(self, key: bytes) -> bool:
        (digest,) = DIGEST.unpack(key)
        return any(digest in one for one in self._chains.get(key[0], ()))

    def add(self, bucket: int, keys: Iterable[bytes]) -> None:
        """Add keys of a bucket whose rows are deleted in the same commit."""
        chain = self._chains[bucket]
        changed: set[int] = set()
        for (digest,) in map(DIGEST.unpack, keys):
            if not any(digest in one for one in chain):
                place = len(chain) - 1
                if place < 0 or chain[place].held >= chain[place].most(
                    share_of(self._error, place)
                ):
                    place += 1
                    chain.append(Filter.empty(place, self._error))
                chain[place].add(digest)
                changed.add(place)
        for place in changed:
            self._store.put("seen", NAME.pack(bucket, place), chain[place].pack())

    def load(self, name: bytes, data: bytes) -> None:
        """Load a filter from its stored form; the order of calls does not matter."""
        bucket, place = NAME.unpack(name)
        chain = self._chains[bucket]
        chain += [Filter.empty(at, self._error) for at in range(len(chain), place + 1)]
        chain[place] = Filter.unpack(data)

    def evict(self, buckets: Collection[int]) -> None:
        """Remove buckets from RAM, not from the store."""
        for bucket in buckets:
            self._chains.pop(bucket, None)


class Eviction:
    """Eviction of settled URLs while there are more than ``most`` records.

    Rows are read in the order of their keys, round after round, and not faster than URLs come in,
    so no call takes long. Since filters are written whole, settled URLs are collected until the
    bucket ends or there are many of them. The keys of URLs that were fetched or failed are added to
    the filters of the bucket. A URL that was only predicted to be low is new to the next page that
    offers it.

    Args:
        queues: Rows and the queues they are in.
        seen: Filters of URLs that were fetched or failed.
        most: Limit of records; 0 for no limit. Queued and leased URLs are never evicted.

    Attributes:
        owned: By bucket, whether this node may change its rows.
    """

    def __init__(self, queues: Queues, seen: Seen, most: int) -> None:
        self._queues, self._urls, self._seen, self._most = queues, queues.urls, seen, most
        self._batch = min(BATCH, most // 8 + 1)
        self._at = b""
        self._settled: list[bytes] = []  # of one bucket
        self.owned: Sequence[bool] = (True,) * BUCKETS

    def step(self) -> None:
        """Evict some records if there are too many."""
        budget = SCAN_LIMIT if self._most else 0
        while budget > 0 and self._urls.known > self._most:
            queued = sum(self._queues.sizes()) + self._queues.leases.pages()
            if self._urls.known - queued <= self._most // SPARE:
                break
            budget -= self._scan(min(budget, self._batch))

    def _scan(self, most: int) -> int:
        """Read the next rows and collect settled ones; return their number, at least 1."""
        found = list(islice(self._urls.store.items("urls", after=self._at, size=most), most))
        for key, data in found:
            if self._settled and (key[0] != self._settled[0][0] or len(self._settled) >= BATCH):
                self._evict_bucket()
            if self._is_evictable(key, data):
                self._settled.append(key)
        self._at = found[-1][0] if len(found) == most else b""
        if not self._at:
            self._evict_bucket()
        return max(len(found), 1)

    def _is_evictable(self, key: bytes, data: bytes) -> bool:
        return data[0] != QUEUED and self.owned[key[0]]

    def _evict_bucket(self) -> int:
        """Evict the collected URLs that are still settled; return the number collected."""
        keys, self._settled = self._settled, []
        stored = self._urls.store.get_many("urls", keys).items()
        evicted = {key: data for key, data in stored if self._is_evictable(key, data)}
        if seen := [key for key, data in evicted.items() if not data[1] & LOW_VALUE]:
            self._seen.add(seen[0][0], seen)
        for key, data in evicted.items():
            low = LOW_VALUE_REASON if data[1] & LOW_VALUE else "error"
            self._queues.tally["evicted/" + ("crawled" if data[0] == CRAWLED else low)] += 1
            self._queues.remove(decode(data), key)
            self._urls.put_links(key, None)
        return len(keys)


class QueueLimit:
    """Limit of queued URLs by value; costs nothing until the queue is half full.

    Once ``most`` URLs are queued, a new one is accepted only if it would be among the ``most``
    best. Otherwise it is refused: counted, not stored, and new to the next page that offers it.
    Queued URLs stay, so the queue continues to grow, but ever slower: of T URLs offered in random
    order of values about most · (1 + ln(T / most)) are queued. Seeds and redirects are always
    accepted. Values are compared without the bias of their group, in 256 steps.

    Args:
        most: URLs that may be queued before any is refused; 0 for no limit.
        hosts: All hosts, whose entries are counted once the queue is half full.

    Attributes:
        counts: Queued entries by step; empty until the queue is half full.
    """

    def __init__(self, most: int, hosts: Iterable[Host]) -> None:
        self.most, self._hosts = most, hosts
        self.counts: list[int] = []
        self._worst_step, self._queries = STEPS, 0

    def change(self, old: int, new: int) -> None:
        """Update ``counts`` for an entry removed and one added (0: none)."""
        self.counts[old >> STEP_BITS] -= bool(old)
        self.counts[new >> STEP_BITS] += bool(new)

    def refuses(self, entry: int, waiting: int) -> bool:
        """Check whether a new entry is too low.

        Args:
            entry: Entry of the URL (``queues.entry_of``).
            waiting: Number of queued URLs.
        """
        if not self.counts and waiting >= self.most // 2:
            self._count()
        if waiting < self.most:
            return False
        if self._queries % BOUND_PERIOD == 0:
            self._worst_step = self._bound()
        self._queries += 1
        return entry >> STEP_BITS > self._worst_step

    def _count(self) -> None:
        self.counts = [0] * STEPS
        for host in self._hosts:
            for unit in host.units:
                for order in unit.orders:
                    for entry in order:
                        self.counts[entry >> STEP_BITS] += 1

    def _bound(self) -> int:
        """Return the step of the last of the ``most`` best entries."""
        totals = accumulate(self.counts)
        return next((step for step, total in enumerate(totals) if total >= self.most), STEPS)
