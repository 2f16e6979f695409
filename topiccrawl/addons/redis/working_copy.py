"""Working copy of a node: buckets are loaded from Redis, and evicted when given away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.addons.redis.buckets import bucket_of_host
from topiccrawl.frontier.hosts import CLOCK, NEVER, STATS, Host
from topiccrawl.frontier.queues import LANE_NAMES
from topiccrawl.frontier.rows import KEY_BYTES, QUEUED, URL, decode
from topiccrawl.links.strategies.contract import LEARNT, GroupStats

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable, Iterator

    from topiccrawl.addons.redis.changes import Changes
    from topiccrawl.frontier.embedded import EmbeddedFrontier


class WorkingCopy:
    """Load whole buckets from the form of Redis into an open frontier, and evict them.

    Args:
        frontier: Frontier of the working copy.
        changes: Feed of the frontier.
        leave: Called for each host of a bucket that is given away.
        crash_wait: Seconds that a page waits for each crash of a process that processed it.
    """

    def __init__(
        self, frontier: EmbeddedFrontier, changes: Changes,
        leave: Callable[[Host], None] = lambda _: None, crash_wait: float = 0.0,
    ) -> None:  # fmt: skip
        self._frontier = frontier
        self._queues = frontier.queues
        self._registry = frontier.registry
        self._ready = frontier.ready
        self._store = frontier.store
        self._urls = frontier.urls
        self._changes = changes
        self._leave = leave
        self._crash_wait = crash_wait
        self._crashed: list[bytes] = []
        self._by_bucket: dict[int, dict[str, Host]] = {}

    # -- loading ---------------------------------------------------------------------------------

    def take(
        self, rows: list[bytes], links: list[bytes], first: list[list[bytes]], *,
        begun: float | None = None,
    ) -> None:  # fmt: skip
        """Load a piece of a bucket, as ``lua/load.lua`` returns it.

        Args:
            rows: Flat list of keys and rows.
            links: Flat list of keys and out-links, of queued URLs.
            first: With the first piece: flat lists of hosts, statistics, robots.txt files, Bloom
                filters of evicted URLs, and crashes (see ``count_crashes``).
            begun: Time until which a dead node may have sent requests; None if no node died.
        """
        if first:
            hosts, stats, robots, filters, self._crashed = first
            self._take_hosts(hosts, stats, begun)
            with self._changes.muted():
                for origin, data in _pairs(robots):
                    self._store.put("robots", origin, data)
                for name, data in _pairs(filters):
                    self._frontier.seen.load(name, data)
                    self._store.put("seen", name, data)
        self._take_rows(rows)
        for key, data in _pairs(links):
            if self._urls.row(key):
                self.take_links(key, data)

    def _take_hosts(self, hosts: list[bytes], stats: list[bytes], begun: float | None) -> None:
        registry = self._registry
        for name, data in _pairs(hosts):
            host = registry.host(name.decode(errors="replace"))
            host.closed = True
            next_at, host.delay, host.level, host.pages, pages, worth = CLOCK.unpack(data)
            host.next_at = next_at
            if begun is not None:
                host.next_at = max(next_at, begun + self._frontier.host_clock.delay(host))
            host.stats = GroupStats(pages, worth)
        for field, data in _pairs(stats):
            name, _, label = field.partition(b"\0")
            host = registry.host(name.decode(errors="replace"))
            known = {label.decode(errors="replace"): GroupStats(*STATS.unpack(data))}
            registry.load_stats(host, known)

    def _take_rows(self, rows: list[bytes]) -> None:
        scorer, urls = self._frontier.scorer, self._urls
        for key, data in _pairs(rows):
            if urls.row(key):
                continue  # a scan may return a row twice
            row = decode(data)
            url = row.text(URL)
            origin = self._queues.origin(url)
            if origin is None:
                continue
            origin.host.closed = True
            unit = self._registry.unit(origin, scorer.strategy.group(url))
            row.host, row.unit = unit.host.id, unit.uid
            row.seq = urls.next_seq(row.seq)
            if row.version % LEARNT != scorer.topic:
                scorer.swept = (scorer.topic, 0)
            with self._changes.muted():
                urls.add(key, row)
            if row.state == QUEUED:
                self._queues.enter(row, key)

    def take_links(self, key: bytes, links: bytes) -> None:
        """Load the out-links of a page."""
        with self._changes.muted():
            self._urls.put_links(key, links)

    def count_crashes(self) -> list[bytes]:
        """Add the numbers of timeouts of nodes that were processing a page; delay its retry.

        Returns:
            Keys of the counted pages. A page that is not recorded yet keeps its count in Redis.
        """
        count, wait = self._frontier.settlement.add_crashes, self._crash_wait
        crashed, self._crashed = self._crashed, []
        return [key for key, times in _pairs(crashed) if count(key, int(times), wait)]

    def open_hosts(self, bucket: int, now: float) -> None:
        """Allow requests to the hosts of a bucket."""
        for host in self._hosts(bucket):
            self._ready.refresh_host(host)
            host.closed = False
            self._ready.rank(host)
            self._ready.reschedule(host, now)

    # -- eviction --------------------------------------------------------------------------------

    def close_hosts(self, bucket: int, now: float) -> None:
        """Stop new requests to the hosts of a bucket."""
        for host in self._hosts(bucket):
            host.closed = True
            self._ready.reschedule(host, now)

    def busy(self, buckets: Iterable[int]) -> set[int]:
        """Return the buckets that have leases or requests in flight."""
        held = {bucket_of_host(held.host.name) for held in self._frontier.leases.by_key.values()}
        return {b for b in buckets if b in held or any(host.active for host in self._hosts(b))}

    def first_buckets(self, buckets: list[int], most: int) -> list[int]:
        """Return the first buckets, at least one, with about ``most`` URLs in total."""
        known = 0
        for at, bucket in enumerate(buckets):
            if known >= most:
                return buckets[:at]
            known += sum(self._ordered(bucket)) + sum(h.stats.pages for h in self._hosts(bucket))
        return buckets

    def queued(self, buckets: Iterable[int]) -> dict[int, list[int]]:
        """Return the sizes of priorQueue and normalQueue by bucket."""
        sizes = {bucket: self._ordered(bucket) for bucket in buckets}
        for _, bucket, lane in self._delayed(sizes):
            sizes[bucket][lane] += 1
        return sizes

    def hosts_by_bucket(self) -> dict[int, int]:
        """Return the number of recorded hosts by bucket."""
        self._index_hosts()
        return {bucket: len(hosts) for bucket, hosts in self._by_bucket.items()}

    def evict(self, buckets: Collection[int]) -> None:
        """Evict buckets; their leases become stale, and changes that were not sent are lost."""
        leases, tally = self._frontier.leases, self._queues.tally
        held = leases.by_key.items()
        for key in [key for key, one in held if bucket_of_host(one.host.name) in buckets]:
            leases.drop(key)
        for sizes in self.queued(buckets).values():
            for lane, size in enumerate(sizes):
                tally[LANE_NAMES[lane]] -= size
        for entry, _, _ in list(self._delayed(buckets)):
            self._store.put("due", entry, None)
        for bucket in buckets:
            self._urls.delete_prefix(bytes([bucket]))
            for name, _ in self._store.items("seen", bytes([bucket])):
                self._store.put("seen", name, None)
            for host in self._hosts(bucket):
                self._retire(host)
            self._by_bucket.pop(bucket, None)
        self._frontier.seen.evict(buckets)
        self._changes.drop(buckets)

    def _retire(self, host: Host) -> None:
        for origin in host.origins:
            origin.check_at = NEVER
            self._frontier.robots_files.delete(origin)
        self._leave(host)
        host.active = 0
        host.prior = host.normal = None
        host.ready = False
        host.check_at = NEVER
        self._registry.delete(host)

    def _hosts(self, bucket: int) -> list[Host]:
        self._index_hosts()
        return list(self._by_bucket.get(bucket, {}).values())

    def _index_hosts(self) -> None:
        """Add new hosts to the index by bucket."""
        self._registry.flush()
        for name in self._changes.met:
            if (host := self._registry.find_host(name)) is not None:
                self._by_bucket.setdefault(bucket_of_host(name), {})[name] = host
        self._changes.met.clear()

    def _ordered(self, bucket: int) -> list[int]:
        """Count the ordered URLs of each lane."""
        sizes = [0, 0]
        for host in self._hosts(bucket):
            for unit in host.units:
                for lane, order in enumerate(unit.orders):
                    sizes[lane] += len(order)
        return sizes

    def _delayed(self, buckets: Container[int]) -> Iterator[tuple[bytes, int, int]]:
        """Yield entry, bucket and lane of the URLs in the buckets that wait for a due time."""
        for entry, _ in self._store.items("due"):
            key = entry[-KEY_BYTES:]
            if key[0] in buckets and (row := self._urls.row(key)):
                yield entry, key[0], row.lane


def _pairs(flat: list[bytes]) -> Iterator[tuple[bytes, bytes]]:
    return zip(flat[::2], flat[1::2], strict=True)
