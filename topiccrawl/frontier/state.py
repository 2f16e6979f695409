"""All that an open embedded frontier is made of, and the moves of a row between its queues."""

from __future__ import annotations

import gc
from collections import defaultdict
from contextlib import contextmanager
from typing import TYPE_CHECKING

from topiccrawl.frontier.biases import Biases
from topiccrawl.frontier.clock import HostClock
from topiccrawl.frontier.contract import LEARNT, REJECTED, GroupStats
from topiccrawl.frontier.held import Leases
from topiccrawl.frontier.hostrows import NOTHING
from topiccrawl.frontier.places import Places
from topiccrawl.frontier.queues import LANE_NAMES, Queues
from topiccrawl.frontier.ready import Ready
from topiccrawl.frontier.robotstxt import Robots
from topiccrawl.frontier.rows import (
    CRAWLED,
    DELAYED,
    ERROR,
    LOW_VALUE,
    QUEUED,
    REASON,
    TOP,
    Row,
    decode,
)
from topiccrawl.frontier.seen import Seen

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from topiccrawl.frontier.contract import Limits, Politeness, Strategy
    from topiccrawl.frontier.places import Place
    from topiccrawl.frontier.store import Store

END = TOP
"""Number that a sweep has reached when all was seen."""


@contextmanager
def _uncollected() -> Iterator[None]:
    """Look for no garbage where much is made and none left: it would take a third of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class State:
    """The rooms of an open frontier, and its counters.

    Attributes:
        store: The folder.
        urls: Rows and links in it.
        clock: When hosts may be asked.
        places: Hosts, origins and units.
        ready: Hosts in order.
        queues: The lanes.
        biases: What neighbours say.
        robots: What robots.txt files say.
        leases: What is handed out.
        seen: What was let go.
        tally: Counters by name.
        seq: Number of the next arrival.
        turn: Place in the cycle of the lanes' share.
        swept: Topic (``Strategy.version % LEARNT``) of the background sweep, and the number it has
            reached.
    """

    def __init__(
        self, store: Store, strategy: Strategy, politeness: Politeness, limits: Limits,
        rng: random.Random, clock_type: type[HostClock] = HostClock,
    ) -> None:  # fmt: skip
        self.store = store
        self.urls = store.urls
        self.clock = clock_type(politeness, limits, rng)
        self.seen = Seen(store, limits.seen_error)
        with _uncollected():
            self._open(strategy, politeness, limits)

    def _open(self, strategy: Strategy, politeness: Politeness, limits: Limits) -> None:
        store = self.store
        self.places = Places(store)
        self.ready = Ready(self.clock, self.places.hosts)
        self.robots = Robots(store, politeness)
        self.tally: dict[str, int] = defaultdict(int)
        self._load(strategy)
        self.queues = Queues(
            store, self.places, self.ready, self.biases, self.tally, limits.max_queued
        )
        self.rank_all()

    def _load(self, strategy: Strategy) -> None:
        kept = self.store.load("progress")
        known = kept if isinstance(kept, dict) else {}
        self.tally.update(known.get("tally", {}))
        self.seq: int = known.get("seq", 1)
        self.turn: int = known.get("turn", 0)
        self.swept: tuple[int, int] = tuple(known.get("swept", (strategy.version % LEARNT, END)))
        crawl = GroupStats(*known.get("crawl", NOTHING))
        self.biases = Biases(strategy, self.places, self.ready, crawl)
        self.leases = Leases(known.get("epoch", 0))

    def rank_all(self) -> None:
        """Make all biases anew, and list all hosts."""
        for host in self.places.hosts:
            self.biases.renew_host(host)
            self.ready.rank_anew(host)
            self.ready.settle(host, host.next_at - 1.0)

    def flush(self) -> None:
        """Tell the store of hosts and leases what changed since the last commit."""
        self.places.flush()
        if self.leases.changed:
            self.store.keep_leased(self.leases.pages(), self.leases.changed)
            self.leases.changed.clear()

    def commit(self, links: int = 0, room: int = 0) -> None:
        """Write what is kept in RAM, and commit; ``Store.commit`` has the arguments."""
        self.flush()
        progress = {
            "tally": dict(self.tally), "seq": self.seq, "turn": self.turn, "swept": self.swept,
            "crawl": self.biases.crawl, "epoch": self.leases.epoch,
        }  # fmt: skip
        self.store.save("progress", progress)
        self.store.commit(links, room)

    def place(self, url: str) -> Place | None:
        """Where a URL lives, or None (counted) where its host has too many origins."""
        place = self.places.place(url)
        if place is None:
            self.tally["origins"] += 1
        return place

    def arrive(self, count: int = 1) -> int:
        """Give out numbers of URLs that are new; the first of them."""
        self.seq += count
        return self.seq - count

    def adopt_arrival(self, seq: int) -> int:
        """The number that a URL of another place keeps here, a new one where it is taken."""
        if not 0 < seq <= TOP or self.urls.has(seq):
            return self.arrive()
        self.seq = max(self.seq, seq + 1)
        return seq

    def get(self, key: bytes) -> Row | None:
        """The row of a key, or None."""
        data = self.urls.row(key)
        return decode(data) if data else None

    def add(self, key: bytes, row: Row) -> None:
        """Keep a row that is new."""
        self.urls.add(key, row.seq, row.encode())

    def put(self, row: Row) -> None:
        """Keep a row that changed."""
        self.urls.put(row.seq, row.encode())

    def move(self, row: Row, key: bytes, lane: int, value: int) -> None:
        """Give a row its lane and value, wherever it stands; lift it out of the errorQueue."""
        if key in self.leases.held:
            row.lane, row.value = lane, value
        elif row.state == QUEUED:
            if lane != row.lane or value != row.value:
                self.queues.leave(row, key)
                row.lane, row.value = lane, value
                self.queues.enter(row, key)
        else:
            row.lane, row.value = lane, value
            if lane < REJECTED:
                self.lift(row)
                self.queues.enter(row, key)

    def lift(self, row: Row) -> None:
        """Take a row out of the errorQueue; the caller queues it."""
        self.tally["error"] -= 1
        self.tally["error/" + row.text(REASON)] -= 1
        row.state = QUEUED
        row.flags &= ~LOW_VALUE
        row.set_text(REASON, "")

    def fail(self, row: Row, reason: str) -> None:
        """Put a row that stands in no queue into the errorQueue."""
        row.state = ERROR
        row.flags &= ~DELAYED
        row.set_text(REASON, reason)
        self.reject(reason)

    def reject(self, reason: str) -> None:
        """Count what enters the errorQueue."""
        self.tally["error"] += 1
        self.tally["error/" + reason] += 1

    def crawled(self, row: Row, relevance: float, now: float) -> None:
        """Put a row that stands in no queue into the crawledQueue."""
        row.state = CRAWLED
        row.flags &= ~DELAYED
        row.relevance = relevance
        row.when = now
        self.tally["crawled"] += 1

    def queue_sizes(self) -> tuple[int, int]:
        """URLs in priorQueue and normalQueue, without those leased."""
        return self.tally[LANE_NAMES[0]], self.tally[LANE_NAMES[1]]

    def counts(self) -> dict[str, int]:
        """Counters by name; the queues always, the others where they are not 0."""
        sizes = dict.fromkeys(("prior", "normal", "leased", "crawled", "error", "known"), 0)
        sizes.update({name: number for name, number in self.tally.items() if number})
        sizes["leased"] = len(self.leases.pages())
        return sizes
