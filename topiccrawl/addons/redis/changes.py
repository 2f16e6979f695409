"""Changes of the working copy of a node since its last batch to Redis, and counters."""

from __future__ import annotations

from collections import defaultdict
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from topiccrawl.addons.redis.buckets import bucket_of_host
from topiccrawl.frontier.hosts import NOTHING
from topiccrawl.links.strategies.contract import GroupStats
from topiccrawl.links.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from topiccrawl.frontier.queues import Queues

NAMES = {
    "urls": "rows", "links": "out", "hosts": "hosts", "stats": "stats", "robots": "robots",
    "leased": "leased", "seen": "seen",
}  # fmt: skip
"""Tables of the feed of the frontier, with their names in Redis."""

OWN = frozenset({"prior", "normal"})
"""Counters per node; all others are summed in Redis."""

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
        first, since hosts are reported by a commit.
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


class Counters:
    """Counters of the whole crawl: the sums of Redis plus the changes that were not sent yet.

    Args:
        queues: Queues with the counters and the statistics of the crawl.
    """

    def __init__(self, queues: Queues) -> None:
        self._tally, self._ready = queues.tally, queues.ready
        self._sent: dict[str, int] = {}
        self._crawl = NOTHING

    def put(self, parts: dict[str, Any]) -> None:
        """Add the differences since the last batch to ``parts``."""
        now = {name: n for name, n in self._tally.items() if name not in OWN}
        grown = {name: n - self._sent.get(name, 0) for name, n in now.items()}
        if tally := {name: n for name, n in grown.items() if n}:
            parts["tally"] = tally
        self._sent = now
        crawl, sent = self._ready.crawl, self._crawl
        if crawl != sent:
            parts["crawl"] = [crawl.pages - sent.pages, crawl.relevance - sent.relevance]
            self._crawl = crawl

    def update(self, tally: list[bytes], pages: int, worth: float) -> None:
        """Apply the sums that Redis sent."""
        for name, text in zip(tally[::2], tally[1::2], strict=True):
            label, total = name.decode(), int(text)
            self._tally[label] += total - self._sent.get(label, 0)
            self._sent[label] = total
        sent, crawl = self._crawl, self._ready.crawl
        if pages != sent.pages:
            more = crawl.relevance + worth - sent.relevance
            self._ready.crawl = GroupStats(crawl.pages + pages - sent.pages, more)
            self._crawl = GroupStats(pages, worth)

    def clear(self) -> None:
        """Set all counters to zero; changes that were not sent are lost."""
        for name in self._tally:
            self._tally[name] = 0
        self._sent.clear()
        self._ready.crawl = self._crawl = NOTHING
