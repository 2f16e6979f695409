"""Export and import of the embedded frontier as ``topiccrawl.frontier.entries``.

Each implementation of the contract writes entries in ``Frontier.export`` and reads them in
``Frontier.load``.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import TYPE_CHECKING

from topiccrawl.errors import StateError, StateVersionError
from topiccrawl.frontier import rows
from topiccrawl.frontier.entries import FORMAT, About, Entry, HostEntry, SeenEntry, UrlEntry
from topiccrawl.frontier.hosts import NOTHING, Host, Origin, read_hosts
from topiccrawl.frontier.politeness import stored_robots
from topiccrawl.frontier.queues import SIZES, SWEEP_END, queue_of
from topiccrawl.frontier.rows import TOP, Row
from topiccrawl.frontier.seen import NAME
from topiccrawl.frontier.store import OWNER, Store
from topiccrawl.links.strategies.contract import GroupStats, LinkStrategy
from topiccrawl.messages import NameList

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from topiccrawl.frontier.embedded import EmbeddedFrontier
    from topiccrawl.model import Evidence

SHARED_FIELDS = (
    "lane", "version", "relevance", "depth", "attempts", "crashes", "redirects", "inlinks",
)  # fmt: skip
"""Fields with the same name and value in rows and entries."""
FLAGS = {"pinned": rows.PINNED, "liftable": rows.LOW_VALUE, "counted": rows.COUNTED}
"""Fields of entries that are flags of rows."""


class Export:
    """Export of an open store.

    Args:
        store: Store; if opened for reading, the export is a snapshot.
        strategy: Strategy of the store's evidence.
    """

    def __init__(self, store: Store, strategy: LinkStrategy) -> None:
        self._store, self._urls, self._strategy = store, rows.Urls(store), strategy

    def export(self) -> Iterator[Entry]:
        """Yield all ``topiccrawl.frontier.entries``; a snapshot if opened for reading."""
        with self._store.reading():
            yield self._about()
            for host in read_hosts(self._store):
                yield self._host(host)
            for name, data in self._store.items("seen"):
                bucket, place = NAME.unpack(name)
                yield SeenEntry(bucket, place, b64encode(data).decode())
            for _, key, data in self._urls.in_order():
                row = rows.decode(data)
                links = tuple(filter(None, map(self._name, self._urls.links(key))))
                yield self._url(row)._replace(links=links)

    def _about(self) -> About:
        progress = self._store.load("progress") or {}
        version, at = progress.get("swept", (-1, SWEEP_END))
        tally = progress.get("tally", {})
        pages, worth = progress.get("crawl", NOTHING)
        return About(
            self._strategy.name, tuple(self._strategy.fields),
            str(self._store.load(OWNER) or ""), version if at == SWEEP_END else -1,
            progress.get("turn", 0), pages, worth,
            counters={
                name: number for name, number in tally.items()
                if number and name not in SIZES and not name.startswith("error/")
            },
        )  # fmt: skip

    def _host(self, host: Host) -> HostEntry:
        return HostEntry(
            host.name, host.next_at, host.delay, host.level, host.pages, *host.stats,
            groups=tuple((name, *stats) for name, stats in host.groups.items() if stats.pages),
            units=tuple((unit.origin.name, unit.groups) for unit in host.units),
            robots=tuple(filter(None, map(self._robots, host.origins))),
        )  # fmt: skip

    def _robots(self, origin: Origin) -> tuple[str, float, bool, str] | None:
        expires, available, body = stored_robots(self._store, origin.name)
        return (origin.name, expires, available, body.decode(errors="replace")) if expires else None

    def _url(self, row: Row) -> UrlEntry:
        """Return the entry of a row, without its links."""
        texts = row.texts.decode(errors="replace")
        url, anchor, context, payload, reason = texts.split("\0")
        return UrlEntry(
            url=url, queue=queue_of(row),
            arrival=row.seq, value=row.value / TOP,
            evidence=_padded(row.evidence, self._strategy),
            anchor=anchor, context=context, payload=payload, reason=reason,
            when=row.when if row.state != rows.QUEUED or row.flags & rows.DELAYED else 0.0,
            first=self._name(row.first),
            parents=tuple(
                (name, value / TOP) for parent, value in row.best_parents()
                if (name := self._name(parent))
            ),
            **{name: getattr(row, name) for name in SHARED_FIELDS}
            | {name: bool(row.flags & flag) for name, flag in FLAGS.items()},
        )  # fmt: skip

    def _name(self, key: bytes) -> str:
        """Return the URL of a key, or "" if it has no record."""
        row = self._urls.row(key)
        return row.text(rows.URL) if row is not None else ""


def _padded(evidence: Evidence, strategy: LinkStrategy) -> Evidence:
    """Return evidence with 0.0 for fields that its strategy lacked when it was stored."""
    return evidence and (*evidence, *(0.0,) * (len(strategy.fields) - len(evidence)))


class Loader:
    """Import of entries into a frontier.

    Args:
        frontier: An empty frontier.
    """

    def __init__(self, frontier: EmbeddedFrontier) -> None:
        self._frontier, self._queues, self._urls = frontier, frontier.queues, frontier.urls
        self._strategy = frontier.scorer.strategy
        self._fields: tuple[str, ...] = ()

    def load(self, entries: Iterable[Entry]) -> int:
        """Load an export; return the number of URLs.

        Raises:
            StateError: The frontier is not empty, or the export lacks its first entry.
            StateVersionError: The export is of another version or strategy.
        """
        remaining = iter(entries)
        self._begin(remaining)
        count = 0
        for entry in remaining:
            if isinstance(entry, UrlEntry):
                count += self._url(entry)
            elif isinstance(entry, HostEntry):
                self._host(entry)
            elif isinstance(entry, SeenEntry):
                name, data = NAME.pack(entry.bucket, entry.place), b64decode(entry.filter)
                self._frontier.seen.load(name, data)
                self._urls.store.put("seen", name, data)
            self._frontier.commit_if_due()
        self._frontier.ready.refresh_all()
        return count

    def _begin(self, entries: Iterator[Entry]) -> None:
        queues = self._queues
        if queues.tally["known"] or self._frontier.seen:
            more = ", others were evicted" if self._frontier.seen else ""
            raise StateError(
                "{path}: this frontier has {known} URLs{more}; an export needs an empty one:"
                " start over with --fresh, or name another folder",
                path=self._urls.store.path, known=queues.tally["known"], more=more,
            )  # fmt: skip
        about = self._about(next(entries, None))
        self._fields = about.fields
        self._frontier.dispatch.turn = about.turn
        self._frontier.scorer.swept = (about.renewed, SWEEP_END)
        self._frontier.ready.crawl = GroupStats(about.pages, about.worth)
        queues.tally.update(about.counters)

    def _about(self, about: Entry | None) -> About:
        """Return the first entry of an export, if it is for this frontier's strategy.

        Revisions of a strategy may have other evidence; at least one number must be known.
        """
        if about is None:
            raise StateError("the export is empty: export it again")
        if not isinstance(about, About):
            raise StateError(
                "an export begins with the frontier's own entry, not with {about!r:.80}",
                about=about,
            )
        strategy, fields = self._strategy.name, tuple(self._strategy.fields)
        known = not (about.fields and set(fields).isdisjoint(about.fields))
        if (about.format, about.strategy, known) != (FORMAT, strategy, True):
            raise StateVersionError(
                "the export is of format {format}, strategy {strategy!r} with evidence {choices};"
                " this program reads format {format2}, and the frontier is for {strategy2!r} with"
                " {choices2}: name the export's strategy with -s TOPICCRAWL_STRATEGY=…, or import"
                " with the version that exported",
                format=about.format, strategy=about.strategy, choices=NameList(about.fields),
                format2=FORMAT, strategy2=strategy, choices2=NameList(fields),
            )  # fmt: skip
        return about

    def _host(self, entry: HostEntry) -> None:
        registry, robots = self._queues.registry, self._frontier.robots_files
        host = registry.host(entry.name)
        host.next_at, host.delay, host.level = entry.next_at, entry.delay, entry.level
        host.pages = entry.fetched
        host.stats = GroupStats(entry.pages, entry.worth)
        registry.load_stats(host, {name: GroupStats(n, worth) for name, n, worth in entry.groups})
        for name, groups in entry.units:
            if origin := registry.origin(name + "/"):
                registry.unit(origin, groups)
        for name, expires, available, body in entry.robots:
            if origin := registry.origin(name + "/"):
                robots.restore(origin, body.encode(), expires, available=available)

    def _url(self, entry: UrlEntry) -> bool:
        queues, urls = self._queues, self._urls
        origin = queues.origin(entry.url)
        key = rows.key_of(entry.url)
        if origin is None or urls.row(key):
            return False
        if urls.next_seq(entry.arrival) != entry.arrival:
            raise StateError(
                "{url}: arrival {arrival} is taken, or not from 1 to {top}",
                url=entry.url, arrival=entry.arrival, top=TOP,
            )  # fmt: skip
        queues.add(self._row(entry), key, origin, self._strategy.group(entry.url))
        if entry.links:
            urls.put_links(key, b"".join(rows.key_of(url) for url in entry.links))
        return True

    def _evidence(self, stored: Evidence) -> Evidence:
        """Return evidence by the names of its numbers; those that the export lacks are 0."""
        named = dict(zip(self._fields, stored, strict=False))
        return stored and tuple(named.get(name, 0.0) for name in self._strategy.fields)

    def _row(self, entry: UrlEntry) -> Row:
        state = rows.STATES.get(entry.queue, rows.QUEUED)
        flags = sum(flag for name, flag in FLAGS.items() if getattr(entry, name))
        if state == rows.QUEUED and entry.when > 0.0:
            flags |= rows.DELAYED
        parents = [(rows.key_of(url), round(value * TOP)) for url, value in entry.parents]
        return Row(
            state, flags, seq=entry.arrival, when=entry.when, value=round(entry.value * TOP),
            first=rows.key_of(entry.first) if entry.first else rows.NO_KEY,
            parents=b"".join(rows.PARENT.pack(*parent) for parent in parents),
            evidence=self._evidence(entry.evidence),
            texts=rows.texts(entry.url, entry.anchor, entry.context, entry.payload, entry.reason),
            **{name: getattr(entry, name) for name in SHARED_FIELDS},
        )  # fmt: skip
