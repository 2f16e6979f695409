"""A node's working copy: buckets come in from Redis, and go out of it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.addons.redis.buckets import bucket_of_host
from topiccrawl.addons.redis.record import drop_notes
from topiccrawl.frontier.contract import LEARNT, GroupStats
from topiccrawl.frontier.hostrows import CLOCK, HOST_ID, STATS
from topiccrawl.frontier.keys import KEY_BYTES
from topiccrawl.frontier.places import ASLEEP
from topiccrawl.frontier.queues import LANE_NAMES
from topiccrawl.frontier.robotstxt import origin_key
from topiccrawl.frontier.rows import DELAYED, QUEUED, REASON, URL, decode

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterable, Iterator

    import lmdb

    from topiccrawl.addons.redis.record import RecordingStore
    from topiccrawl.frontier.contract import Strategy
    from topiccrawl.frontier.places import Host
    from topiccrawl.frontier.rows import Row
    from topiccrawl.frontier.state import State


class WorkingCopy:
    """Moves whole buckets between Redis' form and the open state.

    Args:
        state: The open state; its store notes what changes.
        store: That store.
        strategy: Groups URLs.
        max_crashes: Times a page may kill its process.
        crash_wait: Seconds that a page waits for each time that it did.
    """

    def __init__(
        self, state: State, store: RecordingStore, strategy: Strategy, max_crashes: int,
        crash_wait: float,
    ) -> None:  # fmt: skip
        self._state = state
        self._store = store
        self._strategy = strategy
        self._max_crashes = max_crashes
        self._crash_wait = crash_wait
        self._by_bucket: dict[int, list[Host]] = {}

    # -- in --------------------------------------------------------------------------------------

    def take_hosts(
        self, hosts: list[bytes], stats: list[bytes], robots: list[bytes], begun: float | None
    ) -> None:
        """Take over hosts, flat lists of fields and values.

        ``begun``: a node died with them; they may have been asked until then.
        """
        places = self._state.places
        for name, data in _pairs(hosts):
            host = places.host(name.decode(errors="replace"))
            host.shut = True
            next_at, host.delay, host.level, host.pages, pages, worth = CLOCK.unpack(data)
            host.next_at = next_at
            if begun is not None:
                host.next_at = max(next_at, begun + self._state.clock.delay(host))
            host.stats = GroupStats(pages, worth)
        for field, data in _pairs(stats):
            name, _, label = field.partition(b"\0")
            host = places.host(name.decode(errors="replace"))
            places.adopt(host, {label.decode(errors="replace"): GroupStats(*STATS.unpack(data))})
        for origin, data in _pairs(robots):
            self._store.take_robots(origin, data)

    def take_rows(self, rows: list[bytes], links: list[bytes]) -> None:
        """Take over URLs, and the out-links of those that are queued."""
        state, store = self._state, self._store
        for key, data in _pairs(rows):
            if store.urls.find(key):
                continue  # a scan may give a row twice
            row = decode(data)
            url = row.text(URL)
            place = state.place(url)
            if place is None:
                continue
            place.host.shut = True
            unit, _ = state.places.unit(place, self._strategy.group(url))
            row.host, row.unit = unit.host.id, unit.uid
            row.seq = state.adopt_arrival(row.seq)
            topic = self._strategy.version % LEARNT
            if row.version % LEARNT != topic:
                state.swept = (topic, 0)
            store.urls.take(key, row.seq, row.encode())
            if row.state == QUEUED:
                state.queues.enter(row, key)
        for key, data in _pairs(links):
            if number := store.urls.find(key):
                store.urls.take_links(number, data)

    def take_seen(self, filters: list[bytes]) -> None:
        """Take over what was let go."""
        for name, data in _pairs(filters):
            self._state.seen.learn(name, data)
            self._store.take_filter(name, data)

    def count_crashes(self, crashed: list[bytes], now: float) -> list[bytes]:
        """Count how often pages were being processed when their node was given up; those counted.

        ``crashed`` is a flat list of keys and times. A page that may be tried again waits; one
        that is not known yet keeps its count in Redis.
        """
        state, counted = self._state, []
        for key, times in _pairs(crashed):
            row = state.get(key)
            if row is None:
                continue
            counted.append(key)
            if row.state == QUEUED:
                self._count_crash(row, key, int(times), now)
        return counted

    def _count_crash(self, row: Row, key: bytes, times: int, now: float) -> None:
        state = self._state
        state.tally["crashes"] += times
        state.queues.leave(row, key)
        row.crashes = min(row.crashes + times, 255)
        if row.crashes >= self._max_crashes > 0:
            state.fail(row, "crash")
        else:
            row.flags |= DELAYED
            row.when = now + self._crash_wait * row.crashes
            row.set_text(REASON, "crash")
            state.queues.enter(row, key)
        state.put(row)

    def open_hosts(self, bucket: int, now: float) -> None:
        """Serve a bucket's hosts."""
        for host in self._hosts(bucket):
            self._state.biases.renew_host(host)
            host.shut = False
            self._state.ready.rank_anew(host)
            self._state.ready.settle(host, now)

    # -- out -------------------------------------------------------------------------------------

    def shut_hosts(self, bucket: int, now: float) -> None:
        """Start no more requests to a bucket's hosts."""
        for host in self._hosts(bucket):
            host.shut = True
            self._state.ready.settle(host, now)

    def busy(self, buckets: Iterable[int]) -> set[int]:
        """Those of some buckets with leases out, or requests in flight."""
        held = {bucket_of_host(held.host.name) for held in self._state.leases.held.values()}
        return {b for b in buckets if b in held or any(host.active for host in self._hosts(b))}

    def few(self, buckets: list[int], most: int) -> list[int]:
        """The first of some buckets, at least one, with about so many URLs in all."""
        known = 0
        for at, bucket in enumerate(buckets):
            if known >= most:
                return buckets[:at]
            known += sum(self._ordered(bucket)) + sum(h.stats.pages for h in self._hosts(bucket))
        return buckets

    def queued(self, buckets: Iterable[int]) -> dict[int, list[int]]:
        """URLs in the priorQueue and normalQueue of some buckets, counted one by one."""
        sizes = {bucket: self._ordered(bucket) for bucket in buckets}
        for _, bucket, lane in self._waiting(sizes):
            sizes[bucket][lane] += 1
        return sizes

    def hosts_by_bucket(self) -> dict[int, int]:
        """Number of hosts known, by bucket."""
        self._note()
        return {bucket: len(hosts) for bucket, hosts in self._by_bucket.items()}

    def evict(self, buckets: Collection[int]) -> None:
        """Forget buckets: their leases are stale, what was not sent is lost."""
        state, txn = self._state, self._store.txn
        held = state.leases.held.items()
        state.leases.evict([key for key, one in held if bucket_of_host(one.host.name) in buckets])
        for prior, normal in self.queued(buckets).values():
            state.tally[LANE_NAMES[0]] -= prior
            state.tally[LANE_NAMES[1]] -= normal
        for entry, _, _ in list(self._waiting(buckets)):
            txn.delete(entry, db=self._store.due)
        urls = self._store.urls
        for number in urls.numbers(buckets).tolist():
            urls.evict(number)
        for bucket in buckets:
            self._drop(bucket)
        state.seen.evict(buckets)
        drop_notes(self._store, buckets)

    def _drop(self, bucket: int) -> None:
        """Delete a bucket's hosts, and what was forgotten or let go there."""
        for table in (self._store.forgotten, self._store.seen):
            _delete_under(self._store.txn, table, bytes([bucket]))
        for host in self._hosts(bucket):
            self._retire(host)
        self._by_bucket.pop(bucket, None)

    def _retire(self, host: Host) -> None:
        txn, store = self._store.txn, self._store
        for origin in host.origins.values():
            self._state.robots.forget(origin)
            origin.wake = ASLEEP
            txn.delete(origin_key(origin.name), db=store.robots)
        ident = HOST_ID.pack(host.id)
        for table in (store.units, store.groups, store.hosts):
            _delete_under(txn, table, ident)
        self._state.clock.forget(host)
        host.active = 0
        host.best[:] = [None, None]
        host.ready = False
        host.wake = ASLEEP
        self._state.places.retire(host)

    def _hosts(self, bucket: int) -> list[Host]:
        self._note()
        return self._by_bucket.get(bucket, [])

    def _note(self) -> None:
        """Put hosts that are new with their bucket."""
        noted = self._state.places.noted
        assert noted is not None, "a shared frontier has it noted"  # noqa: S101
        for host in noted.met:
            self._by_bucket.setdefault(bucket_of_host(host.name), []).append(host)
        noted.met.clear()

    def _ordered(self, bucket: int) -> list[int]:
        """URLs in the order of each lane."""
        sizes = [0, 0]
        for host in self._hosts(bucket):
            for unit in host.units:
                for lane, order in enumerate(unit.orders):
                    sizes[lane] += len(order) if order is not None else 0
        return sizes

    def _waiting(self, buckets: Container[int]) -> Iterator[tuple[bytes, int, int]]:
        """Entries of what waits for a time in some buckets, with their buckets and lanes."""
        for entry in self._store.txn.cursor(self._store.due).iternext(values=False):
            if entry[-KEY_BYTES] in buckets and (data := self._store.urls.row(entry[-KEY_BYTES:])):
                yield entry, entry[-KEY_BYTES], decode(data).lane


def _pairs(flat: list[bytes]) -> Iterator[tuple[bytes, bytes]]:
    return zip(flat[::2], flat[1::2], strict=True)


def _delete_under(txn: lmdb.Transaction, table: lmdb._Database, prefix: bytes) -> None:
    cursor: lmdb.Cursor[bytes] = txn.cursor(table)  # type: ignore[assignment]
    found = cursor.set_range(prefix)
    while found and cursor.key().startswith(prefix):
        found = cursor.delete()
