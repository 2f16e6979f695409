"""Hosts, their origins, and their queue units.

Politeness applies to a host, a robots.txt to an origin. A unit holds the URLs of one origin and one
queue group, which share a bias. All of them are kept in RAM and in the store.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from struct import Struct
from typing import TYPE_CHECKING

import msgpack

from topiccrawl.frontier.order import Unit
from topiccrawl.links.strategies.contract import GroupStats
from topiccrawl.links.urls import host_of, origin_of, site_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from topiccrawl.frontier.store import Store

MAX_GROUPS = 256
"""Maximum number of queue groups per host; URLs of further groups share their origin's own unit."""
MAX_ORIGINS = 256
"""Maximum number of origins (in practice, ports) per host; URLs of further origins are refused."""
NAME_CACHE, GROUP_CACHE = 20_000, 2000
"""Cached origins and group names: most links lead to known hosts, and sites are alike."""

HOST_ID = Struct(">I")
CLOCK = Struct("<ddBIId")
STATS = Struct("<Id")
NOTHING = GroupStats(0, 0.0)
NEVER = -1.0

Best = tuple[float, int, Unit]
"""Cost (inverted value minus bias), arrival number and unit of the best URL of a host's lane."""

_NO_GROUPS: dict[str, GroupStats] = {}
"""Shared by all hosts without a crawled page, which are most; never changed."""


@dataclass(slots=True, eq=False)
class Origin:
    """Scheme, host and port, and the state of its robots.txt.

    Attributes:
        name: Scheme, host name and port, such as ``http://a.cn:8080``.
        expires: Time until which its robots.txt is valid, 0 if none is stored; NEVER until it is
            looked up.
        available: True if the robots.txt is available (a 4xx counts as available).
        crawl_delay: Its crawl-delay in seconds.
        blocked: True while its URLs wait for a robots.txt that is in flight or will be retried.
        attempts: Consecutive failed fetches of the robots.txt.
        check_at: Time of the next attempt, or NEVER.
        units: Units by queue group; None until one is looked up again.
    """

    name: str
    host: Host
    expires: float = NEVER
    available: bool = True
    crawl_delay: float = 0.0
    blocked: bool = False
    attempts: int = 0
    check_at: float = NEVER
    units: dict[str, Unit] | None = None


@dataclass(slots=True, eq=False)
class Host:
    """One host: its delays, its units and the statistics of its pages.

    Attributes:
        active: Requests in flight.
        leased: Open page leases, including those whose download ended.
        next_at: Earliest start of the next request.
        send_at: Earliest sending of another request that was started already.
        delay: Adaptive delay in seconds; negative before the first response.
        crawl_delay: Longest crawl-delay of its robots.txt files, seconds.
        level: Consecutive responses with status 429 or 503.
        pages: Pages fetched, for the host budget.
        stats: Statistics of its crawled pages, for the bias.
        refreshed: Number of crawled pages when all biases were last recomputed.
        prior, normal: Best URL of each lane; separate fields, as a list would double their memory.
        ready: True if a request may start now.
        slow: True if its last request was slow, or none has ended yet in this run.
        closed: True while no request may start because a node is loading or releasing the host.
        check_at: Time of its next check, or NEVER.
        groups: Statistics of the groups with crawled pages.
    """

    id: int
    name: str
    active: int = 0
    leased: int = 0
    next_at: float = 0.0
    send_at: float = 0.0
    delay: float = -1.0
    crawl_delay: float = 0.0
    level: int = 0
    pages: int = 0
    stats: GroupStats = NOTHING
    refreshed: int = 0
    prior: Best | None = None
    normal: Best | None = None
    ready: bool = True
    slow: bool = True
    closed: bool = False
    check_at: float = NEVER
    units: tuple[Unit, ...] = ()
    origins: tuple[Origin, ...] = ()
    groups: dict[str, GroupStats] = field(default_factory=lambda: _NO_GROUPS)

    @property
    def is_empty(self) -> bool:
        """True if the host has no URL that may be leased."""
        return self.prior is None and self.normal is None

    def best(self, lane: int) -> Best | None:
        """Return the best URL of a lane."""
        return self.normal if lane else self.prior

    def statistics(self, groups: Iterable[str]) -> list[GroupStats]:
        """Return the statistics of the host, and of some of its groups."""
        return [self.stats, *(self.groups.get(group, NOTHING) for group in groups)]


def pack_clock(host: Host) -> bytes:
    """Pack the fields of a host that change with each page, without its groups."""
    return CLOCK.pack(host.next_at, host.delay, min(host.level, 255), host.pages, *host.stats)


def pack_host(host: Host) -> bytes:
    """Pack all stored fields of a host: clock, name, origins, units and statistics of groups."""
    origins = [origin.name for origin in host.origins]
    units = [(host.origins.index(unit.origin), *unit.groups) for unit in host.units]
    fields: bytes = msgpack.packb(
        (host.name, origins, units, host.groups), unicode_errors="replace"
    )
    return pack_clock(host) + fields


def read_hosts(store: Store, ident: bytes = b"") -> Iterator[Host]:
    """Yield each stored host, or the host of a number, with its origins and units."""
    for key, data in store.items("hosts", ident):
        (number,) = HOST_ID.unpack(key)
        name, origins, units, groups = msgpack.unpackb(data[CLOCK.size :])
        host = Host(number, name)
        host.next_at, host.delay, host.level, host.pages, *stats = CLOCK.unpack_from(data)
        host.stats = GroupStats(*stats)
        if groups:
            host.groups = {group: GroupStats(*stats) for group, stats in groups.items()}
        for origin in origins:
            _add_origin(host, origin)
        for origin, *names in units:
            _add_unit(host.origins[origin], _stored_names(*names))
        yield host


class HostRegistry:
    """All hosts, origins and units of a frontier, loaded when it opens.

    Attributes:
        hosts: Hosts by number; a deleted host stays in the list until its number is reused.
        by_name: Hosts by name.
        find_host: Returns the host of a name, or None.
        dirty: Hosts whose clock or counters changed since the last commit began.
        mark_dirty: Adds a host to ``dirty``.
        by_prefix: Recently used origins by the URL's text up to the first slash of its path.
        new_ready: True if a new host may be requested without a check of its clock.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.new_ready = True
        self.hosts: list[Host] = []
        self._free: list[int] = []
        self.by_name: dict[str, Host] = {}
        self.find_host = self.by_name.get
        self._domains: Counter[str] | None = None
        self.by_prefix: dict[str, Origin] = {}
        self.dirty: set[Host] = set()
        self.mark_dirty = self.dirty.add
        for host in read_hosts(store):
            self._add(host)

    def host(self, name: str) -> Host:
        """Return the host of a name; create it if it is new."""
        host = self.by_name.get(name)
        if host is None:
            number = self._free.pop() if self._free else len(self.hosts)
            host = Host(number, name, ready=self.new_ready)
            self._add(host)
            self.mark_dirty(host)
        return host

    def siblings(self, name: str) -> int:
        """Return the number of hosts of a host's registrable domain.

        Domains are counted only after the first call, since the public suffix list takes megabytes.
        """
        if self._domains is None:
            self._domains = Counter(map(site_of, self.by_name))
        return self._domains[site_of(name)]

    def origin(self, url: str) -> Origin | None:
        """Return (or create) the origin of a URL; None if its host has too many origins."""
        prefix = url[: url.find("/", 8) + 1]
        origin = self.by_prefix.get(prefix)
        if origin is None:
            host, name = self.host(host_of(url)), origin_of(url)
            origin = next((one for one in host.origins if one.name == name), None)
            if origin is None and len(host.origins) >= MAX_ORIGINS:
                return None
            origin = origin or _add_origin(host, name)
            if len(self.by_prefix) >= NAME_CACHE:
                self.by_prefix.clear()
            if prefix:
                self.by_prefix[prefix] = origin
        return origin

    def unit(self, origin: Origin, groups: tuple[str, ...]) -> Unit:
        """Return (or create) the unit of an origin and group.

        A host's groups beyond ``MAX_GROUPS`` share the origin's own unit.
        """
        host, groups = origin.host, _stored_names(*groups)
        if origin.units is None and host.units:
            origin.units = {unit.group: unit for unit in host.units if unit.origin is origin}
        units = {} if origin.units is None else origin.units  # none for the first unit of a host
        unit = units.get(groups[-1] if groups else "")
        if unit is None and groups and len(host.units) >= MAX_GROUPS:
            return self.unit(origin, ())
        if unit is None:
            unit = _add_unit(origin, groups)
            units[unit.group] = unit
            self.mark_dirty(host)
        return unit

    def count_page(self, host: Host, groups: tuple[str, ...], relevance: float) -> None:
        """Add a crawled page to the statistics of its host and groups."""
        host.stats = host.stats.with_page(relevance)
        stats = ((name, host.groups.get(name, NOTHING)) for name in groups)
        self.load_stats(host, {name: one.with_page(relevance) for name, one in stats})

    def load_stats(self, host: Host, groups: dict[str, GroupStats]) -> None:
        """Set the statistics of some groups; the host's own fields are already set."""
        changed = {_stored_names(group)[0]: stats for group, stats in groups.items()}
        host.groups = host.groups | changed
        self.mark_dirty(host)
        if self._store.feed is not None:
            self._store.feed("stats", [
                (f"{host.name}\0{name}".encode(errors="replace"), STATS.pack(*stats))
                for name, stats in changed.items()
            ])  # fmt: skip

    def delete(self, host: Host) -> None:
        """Delete a host.

        Its number is reused: the host must have no row and no request in flight.
        """
        self.hosts[host.id] = Host(host.id, host.name)
        self._free.append(host.id)
        del self.by_name[host.name]
        if self._domains is not None:
            self._domains[site_of(host.name)] -= 1
        self.dirty.discard(host)
        self._store.put("hosts", HOST_ID.pack(host.id), None)
        self.by_prefix.clear()

    def flush(self) -> None:
        """Write the changed hosts; called before each commit."""
        changed, store = self.dirty, self._store
        store.put_many("hosts", {HOST_ID.pack(host.id): pack_host(host) for host in changed})
        if store.feed is not None:
            clocks = ((host.name.encode(errors="replace"), pack_clock(host)) for host in changed)
            store.feed("hosts", clocks)
        changed.clear()

    def _add(self, host: Host) -> None:
        self.hosts[host.id : host.id + 1] = [host]
        self.by_name[host.name] = host
        if self._domains is not None:
            self._domains[site_of(host.name)] += 1


@lru_cache(GROUP_CACHE)
def _stored_names(*groups: str) -> tuple[str, ...]:
    """Return group names as they are stored; cached, so that hosts share equal tuples."""
    return tuple(name.replace("\0", " ").encode(errors="replace").decode() for name in groups)


def _add_origin(host: Host, name: str) -> Origin:
    origin = Origin(name, host)
    host.origins += (origin,)
    return origin


def _add_unit(origin: Origin, groups: tuple[str, ...]) -> Unit:
    host = origin.host
    unit = Unit(len(host.units), origin, groups)
    host.units += (unit,)
    return unit
