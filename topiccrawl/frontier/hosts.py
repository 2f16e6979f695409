"""Hosts, their origins, and their queue units.

Politeness applies to a host, a robots.txt to an origin. A unit holds the URLs of one origin and one
queue group, which share a bias. All of them are kept in RAM and in the store.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from struct import Struct
from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.frontier.order import Unit
from topiccrawl.links.strategies.contract import GroupStats
from topiccrawl.links.urls import host_of, origin_of, site_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from topiccrawl.frontier.store import Store

MAX_GROUPS = 256
"""Maximum number of queue groups per host; URLs of further groups share their origin's own unit."""
MAX_ORIGINS = 256
"""Maximum number of origins (in practice, ports) per host; URLs of further origins are refused."""
NAME_CACHE, GROUP_CACHE = 20_000, 2000
"""Cached origins and group names: most links lead to known hosts, and sites are alike."""

HOST_ID = Struct(">I")
UNIT_ID = GROUP_ID = Struct(">IH")
CLOCK = Struct("<ddBIId")
STATS = Struct("<Id")
COUNT = Struct("<H")
NOTHING = GroupStats(0, 0.0)
NEVER = -1.0

Best = tuple[float, int, Unit]
"""Cost (inverted value minus bias), arrival number and unit of the best URL of a host's lane."""

_NO_GROUPS: dict[str, GroupStats] = {}
"""Shared by all hosts without groups: most hosts are only named by a link or two."""


class RobotsState(NamedTuple):
    """State of a robots.txt.

    Attributes:
        expires: Time until which it is valid; 0 if none is stored.
        available: True if it is available (a 4xx counts as available).
        crawl_delay: Crawl-delay in seconds.
    """

    expires: float = 0.0
    available: bool = True
    crawl_delay: float = 0.0


@dataclass(slots=True, eq=False)
class Origin:
    """Scheme, host and port, and the state of its robots.txt.

    Attributes:
        name: Scheme, host name and port, such as ``http://a.cn:8080``.
        robots: State of its robots.txt; None until it is looked up.
        blocked: True while its URLs wait for a robots.txt that is in flight or will be retried.
        attempts: Consecutive failed fetches of the robots.txt.
        check_at: Time of the next attempt, or NEVER.
        units: Units by queue group; None until one is looked up again.
    """

    name: str
    host: Host
    robots: RobotsState | None = None
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
        groups: Statistics of its groups; empty until a page was crawled.
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

    def set_best(self, lane: int, best: Best | None) -> None:
        """Set the best URL of a lane."""
        if lane:
            self.normal = best
        else:
            self.prior = best


def pack_clock(host: Host) -> bytes:
    """Pack the fields of a host that change with each page, without its groups."""
    return CLOCK.pack(host.next_at, host.delay, min(host.level, 255), host.pages, *host.stats)


def pack_host(host: Host) -> bytes:
    """Pack all stored fields of a host except its units: clock, statistics of its groups, name.

    The statistics follow the order in which groups were first found: those of its units, and other
    groups, whose positions are stored in ``groups``.
    """
    stats = [STATS.pack(*group) for group in host.groups.values()]
    return b"".join([pack_clock(host), COUNT.pack(len(stats)), *stats, _label(host.name)])


def read_hosts(store: Store, ident: bytes = b"") -> Iterable[tuple[Host, list[list[str]]]]:
    """Yield each stored host, or the host of a number, with origins and groups of its units."""
    units, groups = (_by_host(store.items(each, ident)) for each in ("units", "groups"))
    for key, data in store.items("hosts", ident):
        (number,) = HOST_ID.unpack(key)
        (count,) = COUNT.unpack_from(data, CLOCK.size)
        end = (at := CLOCK.size + COUNT.size) + count * STATS.size
        host = Host(number, data[end:].decode())
        host.next_at, host.delay, host.level, host.pages, *stats = CLOCK.unpack_from(data)
        host.stats = GroupStats(*stats)
        unit_names = [text.split("\0") for text in units[number].values()]
        if count or groups[number]:
            names = _group_names(unit_names, groups[number])
            stored = [GroupStats(*each) for each in STATS.iter_unpack(data[at:end])]
            stored = stored[: len(names)]  # a concurrent commit may have added groups
            stored += [NOTHING] * (len(names) - len(stored))
            host.groups = dict(zip(names, stored, strict=True))
        yield host, unit_names


def _by_host(items: Iterable[tuple[bytes, bytes]]) -> defaultdict[int, dict[int, str]]:
    found: defaultdict[int, dict[int, str]] = defaultdict(dict)
    for key, data in items:
        number, place = UNIT_ID.unpack(key)
        found[number][place] = data.decode()
    return found


def _group_names(units: list[list[str]], others: dict[int, str]) -> list[str]:
    """Return a host's groups as first found: those of its units, and others by position."""
    found = dict.fromkeys(chain.from_iterable(unit[1:] for unit in units))
    without_unit = frozenset(others.values())
    names = [name for name in found if name not in without_unit]
    for place, name in sorted(others.items()):
        names.insert(place, name)
    return names


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
        for host, units in read_hosts(store):
            self._add(host)
            for uid, (name, *groups) in enumerate(units):
                origin = find_origin(host, name) or _create_origin(host, name)
                _attach(Unit(uid, origin, _stored_names(*groups)))

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
            origin = find_origin(host, name)
            if origin is None and len(host.origins) >= MAX_ORIGINS:
                return None
            origin = origin or _create_origin(host, name)
            if len(self.by_prefix) >= NAME_CACHE:
                self.by_prefix.clear()
            if prefix:
                self.by_prefix[prefix] = origin
        return origin

    def unit(self, origin: Origin, groups: tuple[str, ...]) -> Unit:
        """Return (or create) the unit of an origin and group.

        A host's groups beyond ``MAX_GROUPS`` share the origin's own unit.
        """
        host = origin.host
        if origin.units is None and host.units:
            origin.units = {unit.group: unit for unit in host.units if unit.origin is origin}
        units = {} if origin.units is None else origin.units
        unit = units.get(groups[-1] if groups else "")
        if unit is not None:
            return unit
        if (stored := _stored_names(*groups)) != groups:
            return self.unit(origin, stored)
        if groups and len(host.units) >= MAX_GROUPS:
            return self.unit(origin, ())
        unit = units[stored[-1] if stored else ""] = Unit(len(host.units), origin, stored)
        _attach(unit)
        names = "\0".join([origin.name, *stored])
        ident = UNIT_ID.pack(host.id, unit.uid)
        self._store.put("units", ident, names.encode(errors="replace"))
        return unit

    def count_page(self, host: Host, groups: tuple[str, ...], relevance: float) -> None:
        """Add a crawled page to the statistics of its host and groups."""
        host.stats = _with_page(host.stats, relevance)
        stats = _groups(host)
        for name in groups:
            stats[name] = _with_page(stats[name], relevance)
        self._stats_changed(host, groups)

    def load_stats(self, host: Host, groups: dict[str, GroupStats]) -> None:
        """Load the statistics of a host's groups; the host's own fields are already set."""
        recorded = _groups(host) if groups else {}
        for group, stats in groups.items():
            (name,) = _stored_names(group)
            if name not in recorded:
                self._store.put("groups", GROUP_ID.pack(host.id, len(recorded)), name.encode())
            recorded[name] = stats
        self._stats_changed(host, chain.from_iterable(map(_stored_names, groups)))

    def _stats_changed(self, host: Host, groups: Iterable[str]) -> None:
        """Mark a host for writing, and report the statistics of its changed groups."""
        self.mark_dirty(host)
        if self._store.feed is not None:
            self._store.feed("stats", [
                (_label(f"{host.name}\0{name}"), STATS.pack(*host.groups[name])) for name in groups
            ])  # fmt: skip

    def delete(self, host: Host) -> None:
        """Delete a host with its units and groups.

        Its number is reused: the host must have no row and no request in flight.
        """
        self.hosts[host.id] = Host(host.id, host.name)
        self._free.append(host.id)
        del self.by_name[host.name]
        if self._domains is not None:
            self._domains[site_of(host.name)] -= 1
        self.dirty.discard(host)
        for table in ("hosts", "units", "groups"):
            for key, _ in self._store.items(table, HOST_ID.pack(host.id)):
                self._store.put(table, key, None)
        self.by_prefix.clear()

    def flush(self) -> None:
        """Write the changed hosts; called before each commit."""
        changed, store = self.dirty, self._store
        store.put_many("hosts", {HOST_ID.pack(host.id): pack_host(host) for host in changed})
        if store.feed is not None:
            store.feed("hosts", ((_label(host.name), pack_clock(host)) for host in changed))
        changed.clear()

    def _add(self, host: Host) -> None:
        self.hosts[host.id : host.id + 1] = [host]
        self.by_name[host.name] = host
        if self._domains is not None:
            self._domains[site_of(host.name)] += 1


def _attach(unit: Unit) -> None:
    host = unit.host
    host.units += (unit,)
    if host.groups is not _NO_GROUPS:
        for group in unit.groups:
            host.groups.setdefault(group, NOTHING)


def _label(name: str) -> bytes:
    return name.encode(errors="replace")


@lru_cache(GROUP_CACHE)
def _stored_names(*groups: str) -> tuple[str, ...]:
    """Return group names as they are stored; cached, so that hosts share equal tuples."""
    return tuple(name.replace("\0", " ").encode(errors="replace").decode() for name in groups)


def find_origin(host: Host, name: str) -> Origin | None:
    """Return the origin of a host with this name, or None."""
    return next((origin for origin in host.origins if origin.name == name), None)


def _create_origin(host: Host, name: str) -> Origin:
    origin = Origin(name, host)
    host.origins += (origin,)
    return origin


def _with_page(stats: GroupStats, relevance: float) -> GroupStats:
    """Return statistics with one more crawled page."""
    return GroupStats(stats.pages + 1, stats.relevance + relevance)


def _groups(host: Host) -> dict[str, GroupStats]:
    """Return the statistics of a host's groups, including the groups of its units."""
    if host.groups is _NO_GROUPS:
        host.groups = dict.fromkeys(chain.from_iterable(u.groups for u in host.units), NOTHING)
    return host.groups
