"""Where URLs live: hosts, their origins, and their queue units.

A host is what politeness knows; an origin is what a robots.txt speaks for; a unit holds the URLs of
one origin and one queue group, which share a bias. All of them are in RAM and kept in the store.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from struct import Struct
from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.frontier.contract import GroupStats
from topiccrawl.frontier.keys import host_digest, host_of, origin_of, split_origin

if TYPE_CHECKING:
    from collections.abc import Iterator

    import lmdb

    from topiccrawl.frontier.order import Order
    from topiccrawl.frontier.store import Store

MAX_GROUPS = 256
"""Queue groups per host; URLs of further groups wait in their origin's own unit."""
MAX_ORIGINS = 256
"""Origins (ports, in practice) per host; URLs of further ones are not taken."""
NAME_CACHE = 200_000

HOST_ID = Struct(">I")
UNIT_ID = Struct(">IH")
GROUP_ID = UNIT_ID
CLOCK = Struct("<ddBIId")
STATS = Struct("<Id")

ASLEEP = -1.0
NOTHING = GroupStats(0, 0.0)

Best = tuple[float, int, "Unit"]
"""Cost (inverted value less bias), arrival number and unit of the best URL of a host's lane."""


@dataclass(slots=True, eq=False)
class Origin:
    """Scheme, host and port, and what is known of its robots.txt.

    Attributes:
        expires: Until when the robots.txt is believed; 0 where it is unknown.
        available: Whether its robots.txt could be had (a 4xx counts as had).
        loaded: Whether the stored robots.txt was looked up.
        waits: Whether its URLs wait for a robots.txt, in flight or to be tried again.
        crawl_delay: Seconds it asks for between requests.
        attempts: Failed fetches of the robots.txt in a row.
        wake: When it is tried again, or ASLEEP.
    """

    name: str
    host: Host
    expires: float = 0.0
    available: bool = True
    loaded: bool = False
    waits: bool = False
    crawl_delay: float = 0.0
    attempts: int = 0
    wake: float = ASLEEP


@dataclass(slots=True, eq=False)
class Unit:
    """One queue: an origin's URLs of one group.

    Attributes:
        uid: Number inside the host.
        groups: Names of its groups, widest first.
        bias: Added to all its values, in quanta.
        orders: Queued URLs of priorQueue and of normalQueue by inverted value and arrival number,
            32 bits each; None before the first.
        heads: Best of each lane, or None.
    """

    uid: int
    host: Host
    origin: Origin
    groups: tuple[str, ...]
    bias: float = 0.0
    orders: list[Order | None] = field(default_factory=lambda: [None, None])
    heads: list[int | None] = field(default_factory=lambda: [None, None])


@dataclass(slots=True, eq=False)
class Host:
    """One host: its clock, its units and what its pages were like.

    Attributes:
        active: Requests in flight.
        leased: Page leases out, those whose download ended included.
        next_at: Earliest start of the next request.
        delay: Adaptive delay, seconds; negative before the first answer.
        crawl_delay: What its robots.txt files ask for, seconds.
        level: Answers 429 or 503 in a row.
        pages: Pages fetched, for the host budget.
        stats: What its crawled pages were like, for the bias.
        refreshed: Crawled pages when all biases were last made anew.
        best: Best URL of each lane among units that do not wait for a robots.txt.
        ready: Whether a request may start now.
        wake: When it is looked at again, or ASLEEP.
        named: How many of its groups the store knows by name.
        listed: What stands for it in the ranks of each lane: its best URL, or a better one it had.
    """

    id: int
    name: str
    active: int = 0
    leased: int = 0
    next_at: float = 0.0
    delay: float = -1.0
    crawl_delay: float = 0.0
    level: int = 0
    pages: int = 0
    stats: GroupStats = NOTHING
    refreshed: int = 0
    named: int = 0
    best: list[Best | None] = field(default_factory=lambda: [None, None])
    ready: bool = True
    shut: bool = False
    wake: float = ASLEEP
    listed: list[tuple[float, int, Host] | None] = field(default_factory=lambda: [None, None])
    units: list[Unit] = field(default_factory=list)
    by_group: dict[tuple[str, str], Unit] = field(default_factory=dict)
    origins: dict[str, Origin] = field(default_factory=dict)
    groups: dict[str, GroupStats] = field(default_factory=dict)

    def __lt__(self, other: Host) -> bool:
        """Some order, for heaps: what was numbered elsewhere may have equal arrival numbers."""
        return self.id < other.id


@dataclass(slots=True, frozen=True)
class Place:
    """A network location as it stands in URLs: its host, origin and the begin of its keys.

    Attributes:
        units: What was looked up of late, by groups.
    """

    digest: bytes
    host: Host
    origin: Origin
    units: dict[tuple[str, ...], Unit] = field(default_factory=dict)


class Noted(NamedTuple):
    """What changed.

    Attributes:
        hosts: Hosts whose clock, counters or statistics did.
        groups: Hosts, and names of groups of theirs, whose statistics did.
    """

    hosts: set[Host]
    groups: set[tuple[Host, str]]

    def drop(self, host: Host) -> None:
        """Forget what changed of a host."""
        self.hosts.discard(host)
        self.groups.difference_update([entry for entry in self.groups if entry[0] is host])


class Places:
    """All hosts, origins and units of a frontier, loaded when it opens.

    Attributes:
        hosts: Hosts by number.
        by_prefix: What was looked up of late, by the URL up to its path's first slash.
        new_ready: Whether a host never met before may be asked without looking at its clock.
        noted: Where somebody wants to know, what changed.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.new_ready = True
        self.hosts: list[Host] = []
        self._by_name: dict[str, Host] = {}
        self.by_prefix: dict[str, Place] = {}
        self._changed: set[Host] = set()
        self.noted: Noted | None = None
        self._load()

    def host(self, name: str) -> Host:
        """The host of this name, made where it is new."""
        host = self._by_name.get(name)
        if host is None:
            host = Host(len(self.hosts), name, ready=self.new_ready)
            self._add(host)
            self._changed.add(host)
            label = name.encode(errors="replace")
            self._store.txn.put(HOST_ID.pack(host.id), label, db=self._store.hosts)
        return host

    def find_host(self, name: str) -> Host | None:
        """The host of this name, or None."""
        return self._by_name.get(name)

    def place(self, url: str) -> Place | None:
        """Host and origin of a URL, made where they are new; None where the host has too many."""
        prefix = url[: url.find("/", 8) + 1]
        place = self.by_prefix.get(prefix)
        if place is None:
            host = self.host(host_of(split_origin(url)[1]))
            name = origin_of(url)
            if name not in host.origins and len(host.origins) >= MAX_ORIGINS:
                return None
            place = Place(host_digest(host.name), host, _origin(host, name))
            if len(self.by_prefix) >= NAME_CACHE:
                self.by_prefix.clear()
            if prefix:
                self.by_prefix[prefix] = place
        return place

    def unit(self, place: Place, groups: tuple[str, ...]) -> tuple[Unit, bool]:
        """The unit of a place and group, and whether it is new.

        A host's groups beyond ``MAX_GROUPS`` share the origin's own unit.
        """
        host, origin = place.host, place.origin
        key = (origin.name, groups[-1] if groups else "")
        unit = host.by_group.get(key)
        if unit is not None:
            place.units[groups] = unit
            return unit, False
        if groups and len(host.units) >= MAX_GROUPS:
            return self.unit(place, ())
        unit = Unit(len(host.units), host, origin, groups)
        self._attach(unit)
        names = "\0".join([origin.name, *(_clean(group) for group in groups)])
        ident = UNIT_ID.pack(host.id, unit.uid)
        self._store.txn.put(ident, names.encode(errors="replace"), db=self._store.units)
        return unit, True

    def changed(self, host: Host) -> None:
        """Note that a host's clock or counters changed."""
        self._changed.add(host)

    def count(self, host: Host, groups: tuple[str, ...], relevance: float) -> None:
        """Add a crawled page to the statistics of its host and groups."""
        host.stats = GroupStats(host.stats.pages + 1, host.stats.relevance + relevance)
        self._changed.add(host)
        for name in groups:
            pages, total = host.groups.get(name, (0, 0.0))
            host.groups[name] = GroupStats(pages + 1, total + relevance)
        if self.noted is not None:
            self.noted.groups.update((host, name) for name in groups)

    def adopt(self, host: Host, groups: dict[str, GroupStats]) -> None:
        """Take over the statistics of a host's groups; its own fields are set already."""
        host.groups.update(groups)
        self._changed.add(host)
        if self.noted is not None:
            self.noted.groups.update((host, name) for name in groups)

    def retire(self, host: Host) -> None:
        """Forget all about a host: the next time its name is met, it is a new one."""
        self.hosts[host.id] = Host(host.id, host.name)
        del self._by_name[host.name]
        self._changed.discard(host)
        self._store.host_log.update({host.id: b""})
        if self.noted is not None:
            self.noted.drop(host)
        self.by_prefix.clear()

    def flush(self) -> None:
        """Write what changed; called before each commit."""
        for host in self._changed:
            if len(host.groups) > host.named:
                self._name(host)
        self._store.host_log.update({host.id: _packed(host) for host in self._changed})
        if self.noted is not None:
            self.noted.hosts.update(self._changed)
        self._changed.clear()

    def _name(self, host: Host) -> None:
        """Keep the names of a host's groups that are new."""
        for at, name in enumerate(list(host.groups)[host.named :], host.named):
            label = name.encode(errors="replace")
            self._store.txn.put(GROUP_ID.pack(host.id, at), label, db=self._store.groups)
        host.named = len(host.groups)

    def _add(self, host: Host) -> None:
        self.hosts.append(host)
        self._by_name[host.name] = host

    def _attach(self, unit: Unit) -> None:
        unit.host.units.append(unit)
        group = unit.groups[-1] if unit.groups else ""
        unit.host.by_group[unit.origin.name, group] = unit

    def _load(self) -> None:
        txn, store = self._store.txn, self._store
        for ident, label in txn.cursor(store.hosts):
            self._add(kept_host(store, ident, label))
        for key, data in txn.cursor(store.units):
            number, uid = UNIT_ID.unpack(key)
            name, *groups = data.decode().split("\0")
            host = self.hosts[number]
            self._attach(Unit(uid, host, _origin(host, name), tuple(groups)))


def _clean(group: str) -> str:
    return group.replace("\0", " ")


def _origin(host: Host, name: str) -> Origin:
    origin = host.origins.get(name)
    if origin is None:
        origin = host.origins[name] = Origin(name, host)
    return origin


def pack_clock(host: Host) -> bytes:
    """What a host's page changes of it, but for its groups."""
    pages, relevance = host.stats
    level = min(host.level, 255)
    return CLOCK.pack(host.next_at, host.delay, level, host.pages, pages, relevance)


@cache
def _counts(groups: int) -> Struct:
    return Struct("<" + STATS.format[1:] * groups)


def _packed(host: Host) -> bytes:
    groups = host.groups
    counts: bytes = _counts(len(groups)).pack(*chain.from_iterable(groups.values()))
    return pack_clock(host) + counts


def kept_host(store: Store, ident: bytes, name: bytes) -> Host:
    """A host as it is stored under a packed number, with the statistics of its groups, no units."""
    (number,) = HOST_ID.unpack(ident)
    data = store.host_log.get(number)
    next_at, delay, level, pages, crawled, relevance = CLOCK.unpack_from(data)
    host = Host(number, name.decode(), next_at=next_at, delay=delay)
    host.level, host.pages, host.stats = level, pages, GroupStats(crawled, relevance)
    labels = under(store.txn, store.groups, ident)
    for (_, label), counts in zip(labels, STATS.iter_unpack(data[CLOCK.size :]), strict=True):
        host.groups[label.decode()] = GroupStats(*counts)
    host.named = len(host.groups)
    return host


def under(
    txn: lmdb.Transaction, table: lmdb._Database, prefix: bytes
) -> Iterator[tuple[bytes, bytes]]:
    """What a table has under keys that begin so, in their order."""
    cursor: lmdb.Cursor[bytes] = txn.cursor(table)  # type: ignore[assignment]
    found = cursor.set_range(prefix)
    while found and cursor.key().startswith(prefix):
        yield cursor.item()
        found = cursor.next()
