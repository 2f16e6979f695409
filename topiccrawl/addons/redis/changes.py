"""Changes of the working copy of a node since its last batch to Redis."""

from __future__ import annotations

from collections import defaultdict
from contextlib import contextmanager
from typing import TYPE_CHECKING

from topiccrawl.addons.redis.buckets import bucket_of_host
from topiccrawl.links.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

NAMES = {
    "urls": "rows", "links": "out", "hosts": "hosts", "stats": "stats", "robots": "robots",
    "leased": "leased", "seen": "seen",
}  # fmt: skip
"""Tables of the feed of the frontier, with their names in Redis."""

Parts = defaultdict[str, defaultdict[int, list[bytes]]]


class Changes:
    """Feed of a working copy: the last value of each changed field.

    Attributes:
        met: Names of hosts that changed since ``met`` was last cleared.
    """

    def __init__(self) -> None:
        self._tables: dict[str, dict[bytes, bytes | None]] = {table: {} for table in NAMES}
        self._muted = False
        self.met: set[str] = set()

    def __call__(self, table: str, items: Iterable[tuple[bytes, bytes | None]]) -> None:
        """Record fields of a table with their values; None means deleted."""
        if not self._muted:
            noted = self._tables[table]
            for key, data in items:
                noted[key] = data
                if table == "hosts":
                    self.met.add(key.decode(errors="replace"))

    @contextmanager
    def muted(self) -> Iterator[None]:
        """Suspend recording during the context, for changes that are loaded from Redis."""
        self._muted = True
        try:
            yield
        finally:
            self._muted = False

    def take(self, epoch: int, mine: Sequence[bool]) -> Parts:
        """Return and clear the changes by table and bucket, as flat lists of fields and values.

        ``gone_TABLE`` lists deleted fields. Buckets of other nodes are omitted. Commit the frontier
        first, since hosts and leases are reported by a commit.
        """
        parts: Parts = defaultdict(lambda: defaultdict(list))
        lease = str(epoch).encode()
        for table, name in NAMES.items():
            noted, self._tables[table] = self._tables[table], {}
            for key, data in noted.items():
                bucket = _bucket(table, key)
                if not mine[bucket]:
                    continue
                if data is None:
                    parts[f"gone_{name}"][bucket].append(key)
                else:
                    parts[name][bucket] += (key, data if table != "leased" else lease)
        return parts

    def drop(self, buckets: Collection[int]) -> None:
        """Discard the changes of some buckets."""
        lost = frozenset(buckets)
        for table, noted in self._tables.items():
            for key in [key for key in noted if _bucket(table, key) in lost]:
                del noted[key]


def _bucket(table: str, key: bytes) -> int:
    """Return the bucket of a field; keys of URLs and names of filters begin with their bucket."""
    if table == "robots":
        return bucket_of_host(host_of(key.decode(errors="replace")))
    if table in {"hosts", "stats"}:
        return bucket_of_host(key.partition(b"\0")[0].decode(errors="replace"))
    return key[0]
