"""Read access to a frontier: contents of queues with reasons, states of hosts, best values.

A :class:`View` reads the store, even if another process writes it; the functions read the order in
RAM of an open frontier.
"""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from heapq import merge, nlargest, nsmallest
from itertools import groupby, islice
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple, Self

from topiccrawl.frontier import rows
from topiccrawl.frontier.contract import Explanation
from topiccrawl.frontier.hosts import HOST_ID, NEVER, NOTHING, Host, read_hosts
from topiccrawl.frontier.portable import Export
from topiccrawl.frontier.queues import LANE_NAMES, SIZES, sizes_of
from topiccrawl.frontier.rows import TOP, Row, decode
from topiccrawl.frontier.seen import Seen
from topiccrawl.frontier.store import ABOUT, Store
from topiccrawl.links.strategies.contract import GroupStats, LinkStrategy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from topiccrawl.frontier.order import Order
    from topiccrawl.frontier.politeness import HostClock

QUEUES = SIZES[:5]
LONGEST_PATH = 100
EVICTED = Explanation("", "seen", "evicted", 0.0, 0.0, {}, None, "", "", 0, (), (), 0, 0)
STATES = ("fetching", "ready", "waiting", "robots", "failing", "idle")
"""fetching: requests in flight; ready: may be requested now; waiting: delayed; robots: waits for
its robots.txt; failing: backs off after 429, 503 or an unavailable robots.txt; idle: nothing
queued."""


class HostFigures(NamedTuple):
    """Current figures of one host.

    Attributes:
        name: Host name.
        state: One of ``STATES``.
        queued: Number of queued URLs.
        active: Requests in flight.
        seconds: Seconds until the next request is allowed; 0 if it is allowed now.
        delay: Current delay between two requests, seconds.
        pages: Pages fetched.
        worth: Mean worth of its crawled pages, in [0, 1].
    """

    name: str
    state: str
    queued: int
    active: int
    seconds: float
    delay: float
    pages: int
    worth: float


class Census(NamedTuple):
    """Current figures of all hosts of a frontier.

    Attributes:
        states: Number of hosts by state.
        hosts: Busiest hosts, in that order.
        soonest: Host whose delay ends next and the seconds until then; None if no host is delayed.
    """

    states: dict[str, int]
    hosts: tuple[HostFigures, ...]
    soonest: tuple[str, float] | None


def census(hosts: Iterable[Host], clock: HostClock, now: float, n: int) -> Census:
    """Return the result of ``QueueAdmin.census``; reads every host."""
    figures = [_figures(host, clock, now) for host in hosts]
    states = dict.fromkeys(STATES, 0) | Counter(one.state for one in figures)
    busiest = nlargest(n, figures, key=lambda one: (one.active, one.queued, one.pages))
    delayed = ((one.name, one.seconds) for one in figures if one.seconds > 0 and one.queued)
    return Census(states, tuple(busiest), min(delayed, key=itemgetter(1), default=None))


def _figures(host: Host, clock: HostClock, now: float) -> HostFigures:
    queued = sum(len(order) for unit in host.units for order in unit.orders)
    pages, worth = host.stats
    wait = max(host.next_at, host.check_at if queued else NEVER) - now
    return HostFigures(
        host.name, _state(host, queued, wait), queued, host.active, max(0.0, wait),
        clock.delay(host), host.pages, worth / pages if pages else 0.0,
    )  # fmt: skip


def _state(host: Host, queued: int, wait: float) -> str:
    if host.active:
        return "fetching"
    if not queued:
        return "idle"
    if host.level and wait > 0:
        return "failing"
    if any(origin.blocked for origin in host.origins) and host.is_empty:
        return "failing" if any(origin.attempts for origin in host.origins) else "robots"
    return "waiting" if wait > 0 else "ready"


def best_values(hosts: Iterable[Host], n: int) -> list[float]:
    """Return the result of ``QueueAdmin.best``; reads every unit and at most n of its entries."""
    orders = [
        (unit.bias, order)
        for host in hosts
        for unit in host.units
        for order in unit.orders
        if order.first is not None
    ]
    leading = nsmallest(n, orders, key=lambda one: ((one[1].first or 0) >> 32) - one[0])
    lines = [islice(_costs(bias, order), n) for bias, order in leading]
    return [(TOP - cost) / TOP for cost in islice(merge(*lines), n)]


def _costs(bias: float, order: Order) -> Iterator[float]:
    """Yield the costs (inverted values minus bias) of an order's entries, lowest first."""
    for entry in order:
        yield (entry >> 32) - bias


class View(Export):
    """Read-only queries of a frontier's store.

    Args:
        store: Open store; if it was opened for reading, queries see the last commit.
        strategy: Names of the evidence, and biases.
    """

    @classmethod
    def read(cls, path: str | Path, strategy: LinkStrategy) -> Self:
        """Open an existing folder for reading, also while a crawl writes to it.

        Raises:
            StorageError: There is no frontier.
            StateVersionError: The frontier is of another format or strategy.
        """
        store = Store(path, readonly=True)
        store.check(strategy)
        return cls(store, strategy)

    def why(self, url: str) -> Explanation | None:
        """Return the stored state of a URL, or None."""
        key = rows.key_of(url)
        with self._store.reading():
            row = self._urls.row(key)
            if row is None:
                seen = key in Seen(self._store, bucket=key[:1])
                return EVICTED._replace(url=url, path=(url,)) if seen else None
            entry, path = self._url(row), self._path(key, row)
            statistics, is_leased = self._statistics(row), key in self._leased()
        bias = self._strategy.bias(statistics)  # its errors are no damage of the store
        return Explanation(
            url=entry.url, queue="leased" if is_leased else entry.queue,
            reason=entry.reason, value=entry.value + bias, bias=bias,
            evidence=dict(zip(self._strategy.fields, row.evidence, strict=False)),
            relevance=entry.relevance if row.state == rows.CRAWLED else None,
            anchor=entry.anchor, context=entry.context, inlinks=entry.inlinks,
            parents=entry.parents, path=path, depth=entry.depth, attempts=entry.attempts,
            when=entry.when,
        )  # fmt: skip

    def iterate(self, queue: str) -> Iterator[tuple[str, float, str]]:
        """Yield (url, value, reason) of a queue: prior, normal, leased, crawled or error.

        Lanes are ordered best first per host and queue group, with delayed URLs last of their host.
        Concurrent changes may be included or not; a URL that does not change is yielded once. A
        view of a store opened for reading stays at the commit where the iteration began.

        Raises:
            ValueError: There is no such queue.
        """
        if queue not in QUEUES:
            message = f"no queue {queue!r}: one of {', '.join(QUEUES)}"
            raise ValueError(message)
        return self._listed(queue)

    def counts(self) -> dict[str, int]:
        """Return sizes and counters as of the last commit."""
        with self._store.reading():
            tally = (self._store.load("progress") or {}).get("tally", {})
            return sizes_of(tally, len(self._leased()))

    def close(self) -> None:
        """Close the store; idempotent."""
        self._store.close()

    def _leased(self) -> dict[bytes, bytes]:
        return dict(self._store.items("leased"))

    def _statistics(self, row: Row) -> list[GroupStats]:
        crawl = (self._store.load("progress") or {}).get("crawl", NOTHING)
        (host,) = read_hosts(self._store, HOST_ID.pack(row.host))
        groups = host.units[row.unit].groups
        return [GroupStats(*crawl), *host.statistics(groups)]

    def _path(self, key: bytes, row: Row) -> tuple[str, ...]:
        path = {key: row}
        while (key := row.first) not in path and len(path) < LONGEST_PATH:
            parent = self._urls.row(key)
            if parent is None:
                break
            path[key] = row = parent
        return tuple(one.text(rows.URL) for one in reversed(path.values()))

    def _listed(self, queue: str) -> Iterator[tuple[str, float, str]]:
        with self._store.reading():
            for row in self._rows(queue):
                yield row.text(rows.URL), row.value / TOP, row.text(rows.REASON)

    def _rows(self, queue: str) -> Iterator[Row]:
        if queue in LANE_NAMES[:2]:
            return self._lane(LANE_NAMES.index(queue))
        if queue == "leased":
            return filter(None, map(self._urls.row, self._leased()))
        state = rows.STATES[queue]
        return (decode(row) for _, _, row in self._urls.in_order() if row[0] == state)

    def _lane(self, lane: int) -> Iterator[Row]:
        """Yield a lane host by host, with its rows in order."""
        leased = self._leased()
        for _, host_rows in groupby(
            self._store.items("urls"), key=lambda item: item[0][: rows.HOST_BYTES]
        ):
            unleased = [decode(data) for key, data in host_rows if key not in leased]
            queued = [row for row in unleased if row.state == rows.QUEUED and row.lane == lane]
            yield from sorted(queued, key=_rank)


def strategy_of(path: str | Path) -> str:
    """Return the name of an existing frontier's strategy.

    Raises:
        StorageError: There is no frontier.
    """
    with closing(Store(path, readonly=True)) as store:
        return str((store.load(ABOUT) or {}).get("strategy", ""))


def _rank(row: Row) -> tuple[int, bool, int, int, int]:
    return row.host, bool(row.flags & rows.DELAYED), row.unit, -row.value, row.seq
