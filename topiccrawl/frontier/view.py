"""What is in which queue, and why: reading a frontier, also one that another process writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from topiccrawl.frontier.about import check
from topiccrawl.frontier.contract import Explanation, GroupStats
from topiccrawl.frontier.hostrows import NOTHING, read_host
from topiccrawl.frontier.keys import key_of
from topiccrawl.frontier.places import Host
from topiccrawl.frontier.queues import LANE_NAMES
from topiccrawl.frontier.rows import (
    ANCHOR,
    CONTEXT,
    CRAWLED,
    DELAYED,
    ERROR,
    QUEUED,
    REASON,
    TOP,
    URL,
    Row,
    decode,
)
from topiccrawl.frontier.seen import was_let_go
from topiccrawl.frontier.store import Store
from topiccrawl.frontier.transfer import Export

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from topiccrawl.frontier.contract import Strategy
    from topiccrawl.frontier.portable import Entry

QUEUES = ("prior", "normal", "leased", "crawled", "error")
LONGEST_PATH = 100
LET_GO = Explanation("", "seen", "let-go", 0.0, 0.0, {}, None, "", "", 0, (), (), 0, 0)


class View:
    """Answers about a frontier's store; changes nothing.

    Args:
        store: Open store; a view of a store opened for reading sees the last commit.
        strategy: Names the evidence and gives biases.
    """

    def __init__(self, store: Store, strategy: Strategy) -> None:
        self._store = store
        self._strategy = strategy

    @classmethod
    def read(cls, path: str | Path, strategy: Strategy) -> Self:
        """What an existing folder holds, also while a crawl writes to it; nothing is changed.

        Raises:
            StorageError: There is none.
            StateVersionError: It is of another format or strategy.
        """
        store = Store(path, readonly=True)
        try:
            check(store, strategy)
        except BaseException:
            store.close()
            raise
        return cls(store, strategy)

    def why(self, url: str) -> Explanation | None:
        """All that is known of a URL, or None."""
        self._store.refresh()
        key = key_of(url)
        row = self._row(key)
        if row is None:
            return LET_GO._replace(url=url, path=(url,)) if was_let_go(self._store, key) else None
        bias = self._bias(row)
        return Explanation(
            url=row.text(URL), queue=self._queue(key, row), reason=row.text(REASON),
            value=row.value / TOP + bias, bias=bias,
            evidence=dict(zip(self._strategy.fields, row.evidence, strict=False)),
            relevance=row.relevance if row.state == CRAWLED else None,
            anchor=row.text(ANCHOR), context=row.text(CONTEXT), inlinks=row.inlinks,
            parents=tuple(
                (parent.text(URL), value / TOP)
                for key, value in row.best_parents()
                if (parent := self._row(key)) is not None
            ),
            path=self._path(key, row), depth=row.depth, attempts=row.attempts,
        )  # fmt: skip

    def iterate(self, queue: str) -> Iterator[tuple[str, float, str]]:
        """(url, value, reason) of a queue: prior, normal, leased, crawled or error.

        Lanes come best first per host and queue group, what waits for a time last of its host.
        What changes meanwhile may be seen or not, but what does not change is given once; a view of
        a store opened for reading stays at the commit where the iteration began.

        Raises:
            ValueError: There is no such queue.
        """
        if queue not in QUEUES:
            message = f"no queue {queue!r}: one of {', '.join(QUEUES)}"
            raise ValueError(message)
        self._store.refresh()
        if queue in LANE_NAMES[:2]:
            return self._lane(LANE_NAMES.index(queue))
        if queue == "leased":
            return self._leased()
        return self._settled(CRAWLED if queue == "crawled" else ERROR)

    def counts(self) -> dict[str, int]:
        """Sizes and counters as of the last commit."""
        self._store.refresh()
        progress = self._store.load("progress")
        tally = progress.get("tally", {}) if isinstance(progress, dict) else {}
        sizes = dict.fromkeys((*QUEUES, "known"), 0)
        sizes.update({name: number for name, number in tally.items() if number})
        sizes["leased"] = len(self._store.leased())
        return sizes

    def recount(self) -> dict[str, int]:
        """The queues' sizes counted one by one, to check ``counts``."""
        sizes = {name: sum(1 for _ in self.iterate(name)) for name in QUEUES}
        sizes["known"] = self._store.urls.known
        return sizes

    def export(self) -> Iterator[Entry]:
        """All there is, as ``portable`` describes it; of a store opened for reading, a snapshot."""
        self._store.refresh()
        return Export(self._store, self._strategy).entries()

    def close(self) -> None:
        """Close the store; twice equals once."""
        self._store.close()

    def _row(self, key: bytes) -> Row | None:
        data = self._store.urls.row(key)
        return decode(data) if data else None

    def _queue(self, key: bytes, row: Row) -> str:
        if key in self._store.leased():
            return "leased"
        if row.state == QUEUED:
            return LANE_NAMES[row.lane]
        return "crawled" if row.state == CRAWLED else "error"

    def _bias(self, row: Row) -> float:
        store = self._store
        progress = store.load("progress")
        crawl = progress.get("crawl", NOTHING) if isinstance(progress, dict) else NOTHING
        host = Host(row.host, "")
        _, *groups = read_host(store, host)[row.unit]
        known = [host.groups[group] for group in groups]
        return self._strategy.bias([GroupStats(*crawl), host.stats, *known])

    def _path(self, key: bytes, row: Row) -> tuple[str, ...]:
        path = [row.text(URL)]
        seen = {key}
        while row.first and row.first not in seen and len(path) < LONGEST_PATH:
            seen.add(row.first)
            found = self._row(row.first)
            if found is None:
                break
            row = found
            path.append(row.text(URL))
        return tuple(reversed(path))

    def _lane(self, lane: int) -> Iterator[tuple[str, float, str]]:
        """A lane host by host; its rows in order."""
        leased = set(self._store.leased())
        for numbers in self._store.urls.by_host():
            found = [
                row for row in self._known(numbers) if row.state == QUEUED and row.lane == lane
            ]
            for row in sorted(found, key=_rank):
                if self._store.urls.key(row.seq) not in leased:
                    yield _told(row)

    def _settled(self, state: int) -> Iterator[tuple[str, float, str]]:
        for row in self._known(self._store.urls.in_order()):
            if row.state == state:
                yield _told(row)

    def _known(self, numbers: Iterable[int]) -> Iterator[Row]:
        """Rows of those numbers that are still known."""
        for number in numbers:
            if data := self._store.urls.get(number):
                yield decode(data)

    def _leased(self) -> Iterator[tuple[str, float, str]]:
        for key in self._store.leased():
            row = self._row(key)
            if row is not None:
                yield _told(row)


def _told(row: Row) -> tuple[str, float, str]:
    return row.text(URL), row.value / TOP, row.text(REASON)


def _rank(row: Row) -> tuple[int, bool, int, int, int]:
    return row.host, bool(row.flags & DELAYED), row.unit, -row.value, row.seq
