"""WHAT WAS LET GO: URLs that were fetched, or failed, and whose records are not kept any more.

A chain of Bloom filters for each first byte of a key (a *bucket*), kept as they are in the store,
remembers that they were seen: none is fetched again, and of URLs never met a stated share is taken
for one of them. Whoever lets go of rows writes the filters in the same transaction.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections import defaultdict
from struct import Struct
from typing import TYPE_CHECKING

from topiccrawl.frontier.bloom import Chain, Filter
from topiccrawl.frontier.portable import SeenEntry

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    import lmdb

    from topiccrawl.frontier.store import Store

NAME = Struct(">BH")
"""What a filter is kept under: its bucket, and its place in the chain."""
DIGEST = Struct("<4xQ")
"""What of a key is uniform: its bucket's bits are not among them."""


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
        for name, data in store.txn.cursor(store.seen):
            self.learn(name, data)

    def __bool__(self) -> bool:
        """Whether anything was let go."""
        return bool(self._chains)

    def __contains__(self, key: bytes) -> bool:
        chain = self._chains.get(key[0])
        return chain is not None and DIGEST.unpack(key)[0] in chain

    def among(self, keys: Iterable[bytes], numbers: Sequence[int]) -> set[bytes]:
        """Those of some keys that were let go and are not known: known ones have a number."""
        return {
            key for key, number in zip(keys, numbers, strict=True) if not number and key in self
        }

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
    cursor: lmdb.Cursor[bytes] = store.txn.cursor(store.seen)
    found = cursor.set_range(key[:1])
    while found and cursor.key()[0] == key[0]:
        if digest in Filter.unpack(cursor.value()):
            return True
        found = cursor.next()
    return False
