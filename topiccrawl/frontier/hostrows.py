"""How a host is stored: what its pages change in a record (see ``hostlog``), names in LMDB."""

from __future__ import annotations

from functools import cache
from itertools import chain
from struct import Struct
from typing import TYPE_CHECKING

from topiccrawl.frontier.contract import GroupStats

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import lmdb

    from topiccrawl.frontier.places import Host
    from topiccrawl.frontier.store import Store

    Item = tuple[bytes, bytes]

HOST_ID = Struct(">I")
UNIT_ID = Struct(">IH")
GROUP_ID = UNIT_ID
CLOCK = Struct("<ddBIId")
STATS = Struct("<Id")
NOTHING = GroupStats(0, 0.0)


def pack_clock(host: Host) -> bytes:
    """What a host's page changes of it, but for its groups."""
    pages, relevance = host.stats
    level = min(host.level, 255)
    return CLOCK.pack(host.next_at, host.delay, level, host.pages, pages, relevance)


@cache
def _counts(groups: int) -> Struct:
    return Struct("<" + STATS.format[1:] * groups)


def pack_host(host: Host) -> bytes:
    """What a page changes of a host, and of its groups."""
    groups = host.groups
    counts: bytes = _counts(len(groups)).pack(*chain.from_iterable(groups.values()))
    return pack_clock(host) + counts


def read_host(store: Store, host: Host) -> list[list[str]]:
    """Origins and groups of a host's units; the host gets its clock and statistics as stored.

    Statistics are kept in the order in which groups were met: those of its units, and others, whose
    places are stored.
    """
    ident = HOST_ID.pack(host.id)
    tables = store.units, store.groups
    return _read(store, host, *(under(store.txn, table, ident) for table in tables))


def read_hosts(store: Store, hosts: Sequence[Host]) -> Iterator[list[list[str]]]:
    """The same for each host there is, by number, in one pass."""
    idents = [HOST_ID.pack(host.id) for host in hosts]
    tables = (_under_each(store.txn, table, idents) for table in (store.units, store.groups))
    for host, in_units, in_groups in zip(hosts, *tables, strict=True):
        yield _read(store, host, in_units, in_groups)


def _read(
    store: Store, host: Host, in_units: Iterable[Item], in_groups: Iterable[Item]
) -> list[list[str]]:
    units = [data.decode().split("\0") for _, data in in_units]
    others = {GROUP_ID.unpack(key)[1]: data.decode() for key, data in in_groups}
    data = store.host_log.get(host.id)
    host.next_at, host.delay, host.level, host.pages, *stats = CLOCK.unpack_from(data)
    host.stats = GroupStats(*stats)
    for name in chain.from_iterable(groups for _, *groups in units):
        _meet_others(host.groups, others)
        host.groups.setdefault(name, NOTHING)
    _meet_others(host.groups, others)
    for name, counts in zip([*host.groups], STATS.iter_unpack(data[CLOCK.size :]), strict=False):
        host.groups[name] = GroupStats(*counts)
    return units


def _meet_others(groups: dict[str, GroupStats], others: dict[int, str]) -> None:
    while (at := len(groups)) in others:
        groups[others[at]] = NOTHING


def _under_each(
    txn: lmdb.Transaction, table: lmdb._Database, idents: Sequence[bytes]
) -> Iterator[list[Item]]:
    """What a table has under each of all first parts of its keys, which ascend."""
    items: Iterator[Item] = iter(txn.cursor(table))  # type: ignore[arg-type]
    item = next(items, None)
    for ident in idents:
        found = []
        while item is not None and item[0][: len(ident)] <= ident:
            if item[0].startswith(ident):
                found.append(item)
            item = next(items, None)
        yield found


def under(txn: lmdb.Transaction, table: lmdb._Database, prefix: bytes) -> Iterator[Item]:
    """What a table has under keys that begin so, in their order."""
    cursor: lmdb.Cursor[bytes] = txn.cursor(table)  # type: ignore[assignment]
    found = cursor.set_range(prefix)
    while found and cursor.key().startswith(prefix):
        yield cursor.item()
        found = cursor.next()
