"""An embedded frontier written out as portable entries, and built from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.errors import StateError
from topiccrawl.frontier.contract import GroupStats
from topiccrawl.frontier.hostrows import HOST_ID, read_host
from topiccrawl.frontier.keys import KEY_BYTES, key_of
from topiccrawl.frontier.places import Host
from topiccrawl.frontier.portable import About, HostEntry, SeenEntry, UrlEntry, check
from topiccrawl.frontier.queues import LANE_NAMES
from topiccrawl.frontier.robotstxt import STORED, origin_key
from topiccrawl.frontier.rows import (
    COUNTED,
    CRAWLED,
    DELAYED,
    ERROR,
    LOW_VALUE,
    PARENT,
    PINNED,
    QUEUED,
    REASON,
    REDIRECTED,
    TOP,
    URL,
    Row,
    decode,
    texts,
)
from topiccrawl.frontier.seen import entry_of
from topiccrawl.frontier.state import END

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import lmdb

    from topiccrawl.frontier.contract import Strategy
    from topiccrawl.frontier.portable import Entry
    from topiccrawl.frontier.state import State
    from topiccrawl.frontier.store import Store

SIZES = frozenset({"prior", "normal", "leased", "crawled", "error", "known"})
BATCH = 500


class Export:
    """The entries of an open store.

    Args:
        store: A store opened for reading gives a snapshot.
        strategy: Whose evidence it is.
    """

    def __init__(self, store: Store, strategy: Strategy) -> None:
        self._store = store
        self._strategy = strategy

    def entries(self) -> Iterator[Entry]:
        """The frontier, its hosts, what was let go, its URLs."""
        yield self._about()
        for ident, name in self._items(self._store.hosts):
            host = Host(HOST_ID.unpack(ident)[0], name.decode())
            if self._store.host_log.get(host.id):  # not met, or given away, since the last commit
                yield self._host(host)
        for name, data in self._items(self._store.seen):
            yield entry_of(name, data)
        for number in self._store.urls.in_order():
            if data := self._store.urls.get(number):
                yield self._url(self._store.urls.key(number), decode(data))

    def _about(self) -> About:
        found = self._store.load("progress")
        progress = found if isinstance(found, dict) else {}
        version, at = progress.get("swept", (-1, END))
        tally = progress.get("tally", {})
        pages, worth = progress.get("crawl", (0, 0.0))
        return About(
            self._strategy.name, tuple(self._strategy.fields),
            str(self._store.load("owner") or ""), version if at == END else -1,
            progress.get("turn", 0), pages, worth,
            counters={
                name: number for name, number in tally.items()
                if number and name not in SIZES and not name.startswith("error/")
            },
        )  # fmt: skip

    def _host(self, host: Host) -> HostEntry:
        store = self._store
        units = read_host(store, host)
        origins = dict.fromkeys(unit[0] for unit in units)
        return HostEntry(
            host.name, host.next_at, host.delay, host.level, host.pages, *host.stats,
            groups=tuple((name, *stats) for name, stats in host.groups.items() if stats.pages),
            units=tuple((origin, tuple(groups)) for origin, *groups in units),
            robots=tuple(self._robots(origin) for origin in origins if self._answer(origin)),
        )  # fmt: skip

    def _answer(self, origin: str) -> bytes:
        return self._store.txn.get(origin_key(origin), b"", self._store.robots) or b""

    def _robots(self, origin: str) -> tuple[str, float, bool, str]:
        data = self._answer(origin)
        expires, available = STORED.unpack_from(data)
        return origin, expires, bool(available), data[STORED.size :].decode("utf-8", "replace")

    def _url(self, key: bytes, row: Row) -> UrlEntry:
        url, anchor, context, payload, reason = (
            text.decode(errors="replace") for text in row.texts.split(b"\0")
        )
        queued = row.state == QUEUED
        pages = self._store.links(key, row.seq)
        return UrlEntry(
            url=url,
            queue=LANE_NAMES[row.lane] if queued else ("crawled", "error")[row.state - 1],
            arrival=row.seq, value=row.value / TOP, lane=row.lane,
            pinned=bool(row.flags & PINNED), liftable=bool(row.flags & LOW_VALUE),
            counted=bool(row.flags & COUNTED),
            evidence=row.evidence, version=row.version, anchor=anchor, context=context,
            payload=payload, reason=reason,
            when=0.0 if queued and not row.flags & DELAYED else row.when,
            relevance=row.relevance, depth=row.depth, attempts=row.attempts, crashes=row.crashes,
            redirects=row.redirects, inlinks=row.inlinks, first=self._name(row.first),
            parents=tuple(
                (name, value / TOP) for parent, value in PARENT.iter_unpack(row.parents)
                if (name := self._name(parent))
            ),
            links=tuple(
                name for at in range(0, len(pages), KEY_BYTES)
                if (name := self._name(pages[at : at + KEY_BYTES]))
            ),
        )  # fmt: skip

    def _name(self, key: bytes) -> str:
        """URL of a key, or "" where it is not known (any more)."""
        data = self._store.urls.row(key) if key else b""
        return decode(data).text(URL) if data else ""

    def _items(self, table: lmdb._Database) -> Iterator[tuple[bytes, bytes]]:
        """A table in pieces, so that commits between them do no harm."""
        after = b""
        while batch := self._piece(table, after):
            yield from batch
            after = batch[-1][0] + b"\0"

    def _piece(self, table: lmdb._Database, after: bytes) -> list[tuple[bytes, bytes]]:
        cursor = self._store.txn.cursor(table)
        found = cursor.set_range(after) if after else cursor.first()
        batch: list[tuple[bytes, bytes]] = []
        while found and len(batch) < BATCH:
            batch.append(cursor.item())
            found = cursor.next()
        return batch


class Loader:
    """Builds a frontier from entries.

    Args:
        state: The open state of an empty frontier.
        strategy: Whose evidence it is.
    """

    def __init__(self, state: State, strategy: Strategy) -> None:
        self._state = state
        self._strategy = strategy

    def load(self, entries: Iterable[Entry], tick: Callable[[int], None]) -> int:
        """Take over an export; number of URLs. ``tick`` is told of every entry.

        Raises:
            StateError: The frontier is not empty, or the export does not begin as one does.
            StateVersionError: It is of another version or strategy.
        """
        rest = iter(entries)
        self._begin(rest)
        known = 0
        for entry in rest:
            if isinstance(entry, UrlEntry):
                known += self._url(entry)
            elif isinstance(entry, HostEntry):
                self._host(entry)
            elif isinstance(entry, SeenEntry):
                self._state.seen.adopt(entry)
            tick(1)
        self._state.rank_all()
        return known

    def _begin(self, entries: Iterator[Entry]) -> None:
        state = self._state
        if state.tally["known"] or state.seen:
            more = ", others were let go" if state.seen else ""
            message = (
                f"{state.store.path}: {state.tally['known']} URLs are in this frontier{more}; an"
                " export goes into an empty one: begin anew with --fresh, or name another folder"
            )
            raise StateError(message)
        first = next(entries, None)
        if first is None:
            message = "the export is empty: export it anew"
            raise StateError(message)
        about = check(first, self._strategy.name, self._strategy.fields)
        state.turn = about.turn
        state.swept = (about.renewed, END)
        state.biases.crawl = GroupStats(about.pages, about.worth)
        state.tally.update(about.counters)

    def _host(self, entry: HostEntry) -> None:
        state = self._state
        host = state.places.host(entry.name)
        host.next_at, host.delay, host.level = entry.next_at, entry.delay, entry.level
        host.pages = entry.fetched
        host.stats = GroupStats(entry.pages, entry.worth)
        state.places.adopt(host, {name: GroupStats(n, worth) for name, n, worth in entry.groups})
        for origin, groups in entry.units:
            place = state.places.place(origin + "/")
            if place is not None:
                state.places.unit(place, groups)
        for name, expires, available, body in entry.robots:
            origin_ = host.origins.get(name)
            if origin_ is not None:
                state.robots.put_back(origin_, expires, body.encode(), available=available)

    def _url(self, entry: UrlEntry) -> bool:
        state = self._state
        place = state.place(entry.url)
        key = key_of(entry.url)
        if place is None or state.get(key) is not None:
            return False
        self._arrive(entry)
        unit, _ = state.places.unit(place, self._strategy.group(entry.url))
        row = self._row(entry)
        row.host, row.unit = unit.host.id, unit.uid
        state.tally["known"] += 1
        if row.state == QUEUED:
            state.queues.enter(row, key)
        elif row.state == CRAWLED:
            state.tally["crawled"] += 1
        else:
            state.fail(row, entry.reason)
        state.add(key, row)
        if entry.links:
            state.urls.put_links(row.seq, b"".join(key_of(url) for url in entry.links))
        return True

    def _arrive(self, entry: UrlEntry) -> None:
        state, number = self._state, entry.arrival
        if not 0 < number <= TOP or state.urls.has(number):
            message = f"{entry.url}: arrival {number} is taken, or not from 1 to {TOP}"
            raise StateError(message)
        state.seq = max(state.seq, number + 1)

    def _row(self, entry: UrlEntry) -> Row:
        row = Row(
            texts(entry.url, entry.anchor, entry.context, entry.payload), entry.lane,
            round(entry.value * TOP), entry.arrival,
        )  # fmt: skip
        row.set_text(REASON, entry.reason)
        row.state = {"crawled": CRAWLED, "error": ERROR}.get(entry.queue, QUEUED)
        row.flags = PINNED * entry.pinned | LOW_VALUE * entry.liftable | COUNTED * entry.counted
        if row.state == QUEUED and entry.when:
            row.flags |= DELAYED
        if row.state == CRAWLED and entry.reason:
            row.flags |= REDIRECTED
        row.evidence, row.version = entry.evidence, entry.version
        row.when, row.relevance, row.depth = entry.when, entry.relevance, entry.depth
        row.attempts, row.crashes, row.redirects = entry.attempts, entry.crashes, entry.redirects
        row.inlinks = entry.inlinks
        row.first = key_of(entry.first) if entry.first else b""
        row.parents = b"".join(
            PARENT.pack(key_of(url), round(value * TOP)) for url, value in entry.parents
        )
        return row
