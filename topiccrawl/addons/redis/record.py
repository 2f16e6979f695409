"""What changed in a node's working copy since the last batch went to Redis."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from typing_extensions import override

from topiccrawl.addons.redis.buckets import bucket_of_host
from topiccrawl.frontier.hostrows import STATS, pack_clock
from topiccrawl.frontier.index import KEYS
from topiccrawl.frontier.keys import host_of, split_origin
from topiccrawl.frontier.store import Store
from topiccrawl.frontier.urls import Urls

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import lmdb

    from topiccrawl.frontier.places import Noted
    from topiccrawl.frontier.store import Sync

KEYED = {"outlinks": "out", "robots": "robots", "leased": "leased", "seen": "seen"}
"""What is noted by key, and what it is called in Redis; see ``RecordingUrls``, ``Noted``, too."""

Parts = dict[str, dict[int, list[bytes]]]
Change = tuple[int, bytes, bytes | None]
"""Bucket, field and value (None: deleted)."""
KEY_ITEM = np.dtype((np.void, KEYS.itemsize))


class RecordingUrls(Urls):
    """Rows and links that note what changes; ``take…`` and ``evict`` note nothing.

    Attributes:
        gone: Keys of rows that were deleted; some may be known again.
        pages: Keys of pages whose links changed.
    """

    def __init__(self, folder: Path, *, readonly: bool = False) -> None:
        super().__init__(folder, readonly=readonly)
        self.gone: set[bytes] = set()
        self.pages: set[bytes] = set()
        self._changed: dict[int, bytes] = {}
        self.take_links = super().put_links

    @override
    def add_many(self, keys: Sequence[bytes], first: int, rows: Sequence[bytes]) -> None:
        """Take in URLs that are not known under the numbers from ``first`` on, which are free."""
        self._changed.update(enumerate(rows, first))
        super().add_many(keys, first, rows)

    def take(self, key: bytes, number: int, row: bytes) -> None:
        """Take in a URL that is known elsewhere."""
        super().add_many((key,), number, (row,))

    @override
    def put(self, number: int, row: bytes) -> None:
        """Replace the row of a known number."""
        self._changed[number] = row
        super().put(number, row)

    @override
    def update(self, rows: Mapping[int, bytes]) -> None:
        """Replace the rows of known numbers."""
        self._changed.update(rows)
        super().update(rows)

    @override
    def put_links(self, number: int, packed: bytes) -> None:
        """Replace the links of a known number's page."""
        self.pages.add(self.key(number))
        super().put_links(number, packed)

    @override
    def delete(self, number: int) -> None:
        """Forget a known number; the links of its page are still known elsewhere."""
        self.gone.add(self.key(number))
        self.evict(number)

    def evict(self, number: int) -> None:
        """Forget a known number, which is known elsewhere."""
        self._changed.pop(number, None)
        super().delete(number)

    def changes(self) -> Iterator[Change]:
        """Rows that changed; their notes are cleared."""
        changed, self._changed = self._changed, {}
        gone, self.gone = self.gone, set()
        numbers = np.fromiter(changed, np.uint32, len(changed))
        keys = np.frombuffer(self.index.keys(numbers), KEY_ITEM).tolist()
        for key, row in zip(keys, changed.values(), strict=True):
            yield key[0], key, row
        for key in gone.difference(keys):
            yield key[0], key, None


class RecordingStore(Store):
    """A store that notes the keys of what changes; ``take_robots`` notes nothing."""

    urls_type: ClassVar = RecordingUrls
    urls: RecordingUrls

    def __init__(
        self, path: str | Path, *, readonly: bool = False, sync: Sync = "checkpoint"
    ) -> None:
        self.changed: dict[str, set[bytes]] = {name: set() for name in KEYED}
        self._handed_out: frozenset[bytes] = frozenset()
        super().__init__(path, readonly=readonly, sync=sync)
        self.changed["outlinks"] = self.urls.pages
        self.take_robots = super().put_robots
        self.take_filter = super().put_filter

    @override
    def keep_leased(self, keys: Iterable[bytes], changed: Collection[bytes]) -> None:
        """Keep the keys of pages that are handed out; those of some changed."""
        self.changed["leased"].update(changed)
        self._handed_out = frozenset(keys)
        super().keep_leased(self._handed_out, changed)

    @override
    def put_robots(self, origin: bytes, answer: bytes) -> None:
        """Keep the robots.txt of an origin."""
        self.changed["robots"].add(origin)
        super().put_robots(origin, answer)

    @override
    def put_filter(self, name: bytes, data: bytes) -> None:
        """Keep a filter of what was let go."""
        self.changed["seen"].add(name)
        super().put_filter(name, data)

    @override
    def let_go(self, numbers: Iterable[int]) -> None:
        """Forget known URLs, and the links of their pages elsewhere, too."""
        numbers = list(numbers)
        self.urls.pages.update(map(self.urls.key, numbers))
        super().let_go(numbers)

    def stored(self, table: str, keys: list[bytes]) -> dict[bytes, bytes]:
        """What is kept under some keys of what is noted."""
        if table in {"robots", "seen"}:
            cursor: lmdb.Cursor[bytes] = self.txn.cursor(getattr(self, table))
            return dict(cursor.getmulti(keys))
        if table == "leased":
            return {key: b"" for key in keys if key in self._handed_out}
        numbers = zip(keys, self.urls.find_many(keys), strict=True)
        found = ((key, self.links(key, number)) for key, number in numbers)
        return {key: data for key, data in found if data}


def collect(store: RecordingStore, noted: Noted, epoch: int, mine: Sequence[bool]) -> Parts:
    """What changed, by table and bucket, as flat lists of fields and values; notes are cleared.

    ``gone_TABLE`` lists fields to be deleted. What belongs to buckets that are not ours is left
    out. The store must have been committed: leases are kept then.
    """
    parts: Parts = {}
    lease = str(epoch).encode()
    changes = {
        "rows": store.urls.changes(), "hosts": _hosts(noted), "stats": _stats(noted),
        **{name: _changes(store, table) for table, name in KEYED.items()},
    }  # fmt: skip
    for name, changed in changes.items():
        kept: defaultdict[int, list[bytes]] = defaultdict(list)
        gone: defaultdict[int, list[bytes]] = defaultdict(list)
        for bucket, field, data in changed:
            if not mine[bucket]:
                continue
            if data is None:
                gone[bucket].append(field)
            else:
                kept[bucket] += (field, data if name != "leased" else lease)
        if kept:
            parts[name] = dict(kept)
        if gone:
            parts[f"gone_{name}"] = dict(gone)
    return parts


def _changes(store: RecordingStore, table: str) -> Iterator[Change]:
    """What changed of what is noted by key; its notes are cleared."""
    keys = sorted(store.changed[table])  # in the order of the pages they lie on
    if not keys:
        return
    store.changed[table].clear()
    found = store.stored(table, keys)
    for key in keys:
        bucket = key[0] if table != "robots" else _bucket_of_origin(key)
        yield bucket, key, found.get(key)


def _bucket_of_origin(key: bytes) -> int:
    return bucket_of_host(host_of(split_origin(key.decode(errors="replace"))[1]))


def _hosts(noted: Noted) -> Iterator[Change]:
    for host in noted.hosts:
        yield bucket_of_host(host.name), host.name.encode(errors="replace"), pack_clock(host)
    noted.hosts.clear()


def _stats(noted: Noted) -> Iterator[Change]:
    for host, group in noted.groups:
        field = f"{host.name}\0{group}".encode(errors="replace")
        yield bucket_of_host(host.name), field, STATS.pack(*host.groups[group])
    noted.groups.clear()


def drop_notes(store: RecordingStore, buckets: Iterable[int]) -> None:
    """Forget what changed in some buckets, which their keys begin with."""
    lost = frozenset(buckets)
    by_key = (store.changed[table] for table in ("outlinks", "leased", "seen"))
    for noted in (store.urls.gone, *by_key):
        noted.difference_update([key for key in noted if key[0] in lost])
