"""What changed in a node's working copy since the last batch went to Redis."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, ClassVar

from typing_extensions import override

from topiccrawl.frontier.keys import KEY_BYTES, host_of, split_origin
from topiccrawl.frontier.places import CLOCK, HOST_ID, STATS
from topiccrawl.frontier.store import Store
from topiccrawl.frontier.urls import Urls
from topiccrawl.nodes.buckets import bucket_of_host

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import lmdb

    from topiccrawl.frontier.places import Places
    from topiccrawl.frontier.store import Sync

WATCHED = {
    "urls": "rows", "outlinks": "out", "hosts": "hosts", "stats": "stats", "robots": "robots",
    "leased": "leased",
}  # fmt: skip
"""What of the changes goes to Redis, and what it is called there."""
TABLES = ("hosts", "stats", "robots", "leased")
"""What of it is a table of LMDB's."""

Parts = dict[str, dict[int, list[bytes]]]


class RecordingUrls(Urls):
    """Rows and links that note the keys of what changes; ``take…`` and ``evict`` note nothing.

    Attributes:
        rows: Keys of rows that changed.
        pages: Keys of pages whose links changed.
    """

    def __init__(self, folder: Path, *, readonly: bool = False) -> None:
        super().__init__(folder, readonly=readonly)
        self.rows: set[bytes] = set()
        self.pages: set[bytes] = set()
        self.take_links, self.evict = super().put_links, super().delete

    @override
    def add_many(self, keys: Sequence[bytes], first: int, rows: Sequence[bytes]) -> None:
        """Take in URLs that are not known under the numbers from ``first`` on, which are free."""
        self.rows.update(keys)
        super().add_many(keys, first, rows)

    def take(self, key: bytes, number: int, row: bytes) -> None:
        """Take in a URL that is known elsewhere."""
        super().add_many((key,), number, (row,))

    @override
    def put(self, number: int, row: bytes) -> None:
        """Replace the row of a known number."""
        self.rows.add(self.key(number))
        super().put(number, row)

    @override
    def update(self, rows: Mapping[int, bytes]) -> None:
        """Replace the rows of known numbers."""
        self.rows.update(map(self.key, rows))
        super().update(rows)

    @override
    def put_links(self, number: int, packed: bytes) -> None:
        """Replace the links of a known number's page."""
        self.pages.add(self.key(number))
        super().put_links(number, packed)

    @override
    def delete(self, number: int) -> None:
        """Forget a known number; the links of its page are still known elsewhere."""
        self.rows.add(self.key(number))
        super().delete(number)


class RecordingStore(Store):
    """A store that notes the keys of what is written through ``txn``; ``raw`` notes nothing."""

    urls_type: ClassVar = RecordingUrls
    urls: RecordingUrls

    def __init__(
        self, path: str | Path, *, readonly: bool = False, sync: Sync = "checkpoint"
    ) -> None:
        self.changed: dict[str, set[bytes]] = {name: set() for name in WATCHED}
        super().__init__(path, readonly=readonly, sync=sync)
        self.changed["urls"] = self.urls.rows
        self.changed["outlinks"] = self.urls.pages

    @override
    def begin(self) -> None:
        """Open a new transaction."""
        super().begin()
        self.raw = self.txn
        tables = {getattr(self, name): self.changed[name] for name in TABLES}
        self.txn = _Recorder(self.raw, tables)  # type: ignore[assignment]

    def stored(self, table: str, keys: list[bytes]) -> dict[bytes, bytes]:
        """What is kept under some keys of a watched table."""
        if table in TABLES:
            cursor: lmdb.Cursor[bytes] = self.raw.cursor(getattr(self, table))
            return dict(cursor.getmulti(keys))
        numbers = zip(keys, self.urls.find_many(keys), strict=True)
        if table == "urls":
            found = ((key, self.urls.get(number)) for key, number in numbers if number)
        else:
            found = ((key, self.links(key, number)) for key, number in numbers)
        return {key: data for key, data in found if data}


class _Recorder:
    """A transaction whose puts and deletes in watched tables are noted."""

    def __init__(self, txn: lmdb.Transaction, watched: dict[lmdb._Database, set[bytes]]) -> None:
        self._put, self._delete = txn.put, txn.delete
        self._watched = watched
        self.get, self.stat, self.commit, self.abort = txn.get, txn.stat, txn.commit, txn.abort
        self.cursor = txn.cursor

    def put(
        self, key: bytes, value: bytes, dupdata: bool = True, overwrite: bool = True,  # noqa: FBT001, FBT002
        append: bool = False, db: Any = None,  # noqa: ANN401, FBT001, FBT002
    ) -> bool:  # fmt: skip
        noted = self._watched.get(db)
        if noted is not None:
            noted.add(key)
        return self._put(key, value, dupdata, overwrite, append, db)

    def delete(self, key: bytes, value: bytes = b"", db: Any = None) -> bool:  # noqa: ANN401
        noted = self._watched.get(db)
        if noted is not None:
            noted.add(key)
        return self._delete(key, value, db)


def collect(store: RecordingStore, places: Places, epoch: int, mine: Sequence[bool]) -> Parts:
    """What changed, by table and bucket, as flat lists of fields and values; notes are cleared.

    ``gone_TABLE`` lists fields to be deleted. What belongs to buckets that are not ours is left
    out. The store must have been committed: hosts are written then.
    """
    parts: Parts = {}
    lease = str(epoch).encode()
    for table, name in WATCHED.items():
        kept: defaultdict[int, list[bytes]] = defaultdict(list)
        gone: defaultdict[int, list[bytes]] = defaultdict(list)
        for bucket, field, data in _changes(store, places, table):
            if not mine[bucket]:
                continue
            if data is None:
                gone[bucket].append(field)
            else:
                kept[bucket] += (field, data if table != "leased" else lease)
        if kept:
            parts[name] = dict(kept)
        if gone:
            parts[f"gone_{name}"] = dict(gone)
    return parts


def _changes(
    store: RecordingStore, places: Places, table: str
) -> Iterator[tuple[int, bytes, bytes | None]]:
    """Bucket, field and value (None: deleted) of what changed in a table; its notes are cleared."""
    keys = sorted(store.changed[table])  # in the order of the pages they lie on
    if not keys:
        return
    store.changed[table].clear()
    found = store.stored(table, keys)
    field_of = _FIELDS.get(table)
    for key in keys:
        value = found.get(key)
        if field_of is None:
            yield key[0], key, value
        else:
            bucket, field, data = field_of(places, key, value)
            yield bucket, field, None if value is None else data


def _host(places: Places, key: bytes, value: bytes | None) -> tuple[int, bytes, bytes]:
    name = places.hosts[HOST_ID.unpack_from(key)[0]].name
    return bucket_of_host(name), name.encode(errors="replace"), (value or b"")[: CLOCK.size]


def _stats(places: Places, key: bytes, value: bytes | None) -> tuple[int, bytes, bytes]:
    name = places.hosts[HOST_ID.unpack_from(key)[0]].name
    data = value or b""
    field = name.encode(errors="replace") + b"\0" + data[STATS.size :]
    return bucket_of_host(name), field, data[: STATS.size]


def _robots(_: Places, key: bytes, value: bytes | None) -> tuple[int, bytes, bytes]:
    host = host_of(split_origin(key.decode(errors="replace"))[1])
    return bucket_of_host(host), key, value or b""


_FIELDS = {"hosts": _host, "stats": _stats, "robots": _robots}


def drop_notes(store: RecordingStore, buckets: Iterable[int]) -> None:
    """Forget what changed in some buckets (by the keys of URLs)."""
    lost = frozenset(buckets)
    for table in ("urls", "outlinks", "leased"):
        noted = store.changed[table]
        noted.difference_update([key for key in noted if len(key) == KEY_BYTES and key[0] in lost])
