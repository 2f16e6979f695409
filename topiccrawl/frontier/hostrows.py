"""How a host is stored: what its pages change in a record (see ``hostlog``), names in LMDB."""

from __future__ import annotations

from functools import cache
from itertools import chain
from struct import Struct
from typing import TYPE_CHECKING

from topiccrawl.frontier.contract import GroupStats

if TYPE_CHECKING:
    from collections.abc import Iterator

    import lmdb

    from topiccrawl.frontier.places import Host
    from topiccrawl.frontier.store import Store

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
    units = [data.decode().split("\0") for _, data in under(store.txn, store.units, ident)]
    others = {
        GROUP_ID.unpack(key)[1]: data.decode()
        for key, data in under(store.txn, store.groups, ident)
    }
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


def under(
    txn: lmdb.Transaction, table: lmdb._Database, prefix: bytes
) -> Iterator[tuple[bytes, bytes]]:
    """What a table has under keys that begin so, in their order."""
    cursor: lmdb.Cursor[bytes] = txn.cursor(table)  # type: ignore[assignment]
    found = cursor.set_range(prefix)
    while found and cursor.key().startswith(prefix):
        yield cursor.item()
        found = cursor.next()
