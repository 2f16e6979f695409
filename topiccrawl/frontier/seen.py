"""Bounded memory: records of settled URLs are evicted, and Bloom filters remember their keys.

A chain of filters for each first byte of a key (a *bucket*), kept as they are in the store, makes
sure that no evicted URL is fetched again; of URLs never met a stated share is taken for one of
them. A filter (Bloom 1970) is filled as far as its share of the error allows, then the next one
begins, twice as large up to ``LARGEST``. The n-th of a chain may err for 1 / (n (n + 1)) of the
chain's error: all of them together never err for more, however long it grows. (Scalable Bloom
filters, Almeida, Baquero, Preguiça, Hutchison 2007, whose shares fall geometrically; these cost
long chains fewer bits.) The bits are part of exports and of what nodes share, so they are our own.
"""

from __future__ import annotations

from array import array
from base64 import b64decode, b64encode
from collections import defaultdict
from math import ceil, log, log2
from struct import Struct
from typing import TYPE_CHECKING, Self

from topiccrawl.frontier.portable import SeenEntry
from topiccrawl.frontier.rows import CRAWLED, LOW_VALUE, LOW_VALUE_REASON, QUEUED

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from topiccrawl.frontier.hosts import Host
    from topiccrawl.frontier.queues import Queues
    from topiccrawl.frontier.store import Store

SMALLEST, LARGEST = 4 << 10, 256 << 10
"""Bytes of the first filter of a chain, and of its largest ones; powers of two."""
HEAD = Struct("<IB3x")
NAME = Struct(">BH")
"""What a filter is kept under: its bucket, and its place in the chain."""
DIGEST = Struct("<4xQ")
"""What of a key is uniform: its bucket's bits are not among them."""
LOOK = 500
"""Rows looked at in one call at most: a millisecond or two."""
BATCH = 500
"""URLs of a bucket that are added to its filters at once at most."""
PIECE = 50
"""Rows looked at together at least, or an eighth of what may be known."""
WINDOW = 256 * BATCH
"""Settled URLs that may wait for others of their bucket; a quarter of what may be known at most."""
SPARE = 64
"""A part of so many of what may be known may be settled and yet not be looked for."""
BUCKETS = 256
STEPS = 256
STEP_BITS = 56
"""Bits of an entry below its step of value."""
LOOKS = 500
"""Questions between two looks at where the bound of the queue lies."""


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


class Seen:
    """What was let go; asked of each URL that is not known.

    Args:
        store: Where filters are kept.
        error: Share of URLs never met that may be taken for seen, in (0, 1).
    """

    def __init__(self, store: Store, error: float) -> None:
        self._store = store
        self._error = error
        self._chains: defaultdict[int, Chain] = defaultdict(Chain)
        for name, data in store.items(store.seen):
            self.learn(name, data)

    def __bool__(self) -> bool:
        """Whether anything was let go."""
        return bool(self._chains)

    def __contains__(self, key: bytes) -> bool:
        chain = self._chains.get(key[0])
        return chain is not None and DIGEST.unpack(key)[0] in chain

    def add(self, bucket: int, keys: Iterable[bytes]) -> None:
        """Remember keys of a bucket whose rows are let go with the same commit."""
        chain = self._chains[bucket]
        for place in chain.add([DIGEST.unpack(key)[0] for key in keys], self._error):
            self._store.put_filter(NAME.pack(bucket, place), chain.filters[place].pack())

    def learn(self, name: bytes, data: bytes) -> None:
        """Take in a filter as it is kept, in any order of their places."""
        bucket, place = NAME.unpack(name)
        filters = self._chains[bucket].filters
        filters += [Filter.made(at, self._error) for at in range(len(filters), place + 1)]
        filters[place] = Filter.unpack(data)

    def adopt(self, entry: SeenEntry) -> None:
        """Take in a filter of an export, and keep it."""
        name, data = NAME.pack(entry.bucket, entry.place), b64decode(entry.filter)
        self.learn(name, data)
        self._store.put_filter(name, data)

    def evict(self, buckets: Collection[int]) -> None:
        """Forget buckets, but for the store."""
        for bucket in buckets:
            self._chains.pop(bucket, None)


def entry_of(name: bytes, data: bytes) -> SeenEntry:
    """A filter as it is exported."""
    bucket, place = NAME.unpack(name)
    return SeenEntry(bucket, place, b64encode(data).decode())


def was_let_go(store: Store, key: bytes) -> bool:
    """Whether a store says so; also one that another process writes."""
    (digest,) = DIGEST.unpack(key)
    filters = store.items(store.seen, key[:1], size=1)
    return any(digest in Filter.unpack(data) for _, data in filters)


class Shedding:
    """Evicts settled URLs while more than ``most`` are known.

    From the first arrival on, round after round, settled rows are looked for: not faster than URLs
    come in, so that no call takes long. What was only predicted to be low is forgotten, and new to
    the next page that offers it. What was fetched or failed has to be remembered: it waits until
    many of its bucket can be added to its filters at once, which are written whole.

    Args:
        queues: What is known, and where it stands.
        seen: Remembers what was fetched or failed.
        most: URLs that may be known; 0 is no bound. What is queued or leased always stays.

    Attributes:
        mine: By bucket, whether its rows are ours to change.
    """

    def __init__(self, queues: Queues, seen: Seen, most: int) -> None:
        self._queues = queues
        self._urls = queues.urls
        self._seen = seen
        self._most = most
        self._window = min(WINDOW, most // 4)
        self._piece = min(PIECE, most // 8 + 1)
        self._found: dict[int, array[int]] = {}
        self._begin()
        self.mine: Sequence[bool] = (True,) * BUCKETS

    def _begin(self) -> None:
        """Begin a round; what was found waiting is found again."""
        self._at = self._waits = 0
        self._found.clear()

    def step(self) -> int:
        """Evict some, if too many are known; how many."""
        if not self._most:
            return 0
        known, left = self._urls.known(), LOOK
        before = known
        while left > 0 and known > self._most:
            queued = sum(self._queues.sizes()) + len(self._queues.leases.pages())
            if self._waits <= self._window and known - queued - self._waits > self._most // SPARE:
                left -= self._look(min(left, max(self._piece, known - self._most)))
            elif self._found:
                left -= self._remember()
            else:
                break
            known = self._urls.known()
        return before - known

    def _look(self, most: int) -> int:
        """Look at the next rows: forget low ones, note where others are; how many, at least 1."""
        rows = self._urls.after(self._at, most)
        for number, key, data in rows:
            if data[0] == QUEUED or not self.mine[key[0]]:
                continue
            if data[1] & LOW_VALUE:
                self._drop(number, key, data)
            else:
                self._found.setdefault(key[0], array("I")).append(number)
                self._waits += 1
        if rows:
            self._at = rows[-1][0]
        else:
            self._begin()
        return max(len(rows), 1)

    def _remember(self) -> int:
        """Evict the first in the bucket where most were found; how many, at least 1."""
        bucket = max(self._found, key=lambda one: len(self._found[one]))
        numbers = self._found[bucket][:BATCH]
        del self._found[bucket][:BATCH]
        self._waits -= len(numbers)
        if not self._found[bucket]:
            del self._found[bucket]
        settled = [
            (number, *entry) for number in numbers
            if self.mine[bucket] and (entry := self._urls.get(number)) is not None
            and entry[0][0] == bucket and entry[1][0] != QUEUED and not entry[1][1] & LOW_VALUE
        ]  # fmt: skip
        self._seen.add(bucket, [key for _, key, _ in settled])
        for number, key, data in settled:
            self._drop(number, key, data)
        return max(len(numbers), 1)

    def _drop(self, number: int, key: bytes, data: bytes) -> None:
        """Forget a settled row, and count what it was."""
        queues = self._queues
        if data[0] == CRAWLED:
            what = "crawled"
            queues.tally[what] -= 1
        else:
            what = LOW_VALUE_REASON if data[1] & LOW_VALUE else "error"
            queues.reject(data.rpartition(b"\0")[2].decode(), -1)
        queues.tally["let-go/" + what] += 1
        queues.tally["known"] -= 1
        self._urls.forget(key, number, links=True)


class Tail:
    """Which values are too low when very much waits; costs nothing until half of the bound waits.

    Once ``most`` URLs wait, a new one enters only if it would be among the ``most`` best; otherwise
    it is turned away: counted, not stored, and new again to the next page that offers it. What has
    entered stays. So the queue goes on growing, but ever slower: of T URLs offered in any order of
    values about most · (1 + ln(T / most)) wait. Seeds and redirects always enter. Values are
    compared without the bias of their group, in 256 steps.

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
