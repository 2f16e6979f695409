"""What changed in a node's working copy since the last batch went to Redis."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from topiccrawl.frontier.keys import KEY_BYTES, host_of, split_origin
from topiccrawl.frontier.places import CLOCK, HOST_ID, STATS
from topiccrawl.frontier.store import Store
from topiccrawl.nodes.buckets import bucket_of_host

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    import lmdb

    from topiccrawl.frontier.places import Places
    from topiccrawl.frontier.store import Sync

WATCHED = {
    "urls": "rows", "outlinks": "out", "hosts": "hosts", "stats": "stats", "robots": "robots",
    "leased": "leased",
}  # fmt: skip
"""Tables whose changes go to Redis, and what they are called there."""

Parts = dict[str, dict[int, list[bytes]]]


class RecordingStore(Store):
    """A store that notes the keys of what is written through ``txn``; ``raw`` notes nothing."""

    def __init__(
        self, path: str | Path, *, readonly: bool = False, sync: Sync = "checkpoint"
    ) -> None:
        self.changed: dict[str, set[bytes]] = {name: set() for name in WATCHED}
        super().__init__(path, readonly=readonly, sync=sync)

    @override
    def begin(self) -> None:
        """Open a new transaction."""
        super().begin()
        self.raw = self.txn
        tables = {getattr(self, name): self.changed[name] for name in WATCHED}
        self.txn = _Recorder(self.raw, tables, self.urls)  # type: ignore[assignment]


class _Recorder:
    """A transaction whose puts and deletes in watched tables are noted."""

    def __init__(
        self,
        txn: lmdb.Transaction,
        watched: dict[lmdb._Database, set[bytes]],
        rows: lmdb._Database,
    ) -> None:
        self._put, self._delete, self._cursor = txn.put, txn.delete, txn.cursor
        self._watched = watched
        self._rows = rows
        self.get, self.stat, self.commit, self.abort = txn.get, txn.stat, txn.commit, txn.abort

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

    def cursor(self, db: Any) -> Any:  # noqa: ANN401
        cursor = self._cursor(db)
        return _Cursor(cursor, self._watched[db]) if db is self._rows else cursor


class _Cursor:
    """A cursor of the table of rows, the one that many are written to at once."""

    def __init__(self, cursor: lmdb.Cursor[Any], noted: set[bytes]) -> None:
        self._raw = cursor
        self._noted = noted

    def putmulti(self, rows: list[tuple[bytes, bytes]]) -> tuple[int, int]:
        self._noted.update([key for key, _ in rows])
        return self._raw.putmulti(rows)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - the cursor's own
        return getattr(self._raw, name)


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
    cursor: lmdb.Cursor[bytes] = store.raw.cursor(getattr(store, table))
    found = dict(cursor.getmulti(keys))
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
