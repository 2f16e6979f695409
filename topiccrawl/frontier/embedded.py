"""Frontier of one process in one folder: crash-safe, with the full state of every URL."""

from __future__ import annotations

import gc
import logging
import random
from typing import TYPE_CHECKING, Any

import lmdb

from topiccrawl.errors import StorageError
from topiccrawl.frontier.contract import HostSlots, QueueAdmin, Reader, UrlQueue
from topiccrawl.frontier.dispatch import Dispatch, Slots
from topiccrawl.frontier.hosts import HostRegistry
from topiccrawl.frontier.ingest import LinkIngest
from topiccrawl.frontier.leases import Leases
from topiccrawl.frontier.politeness import HostClock, Robots, steady_clock
from topiccrawl.frontier.portable import Loader
from topiccrawl.frontier.queues import Queues, RowScorer
from topiccrawl.frontier.ready import ReadyHosts
from topiccrawl.frontier.rows import QUEUED, Urls
from topiccrawl.frontier.seen import Eviction, Seen
from topiccrawl.frontier.settlement import LeaseSettlement
from topiccrawl.frontier.store import Store, Sync
from topiccrawl.frontier.view import Census, View, best_values, census
from topiccrawl.links.strategies.contract import GroupStats, LinkStrategy
from topiccrawl.model import Kind, Lease

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from topiccrawl.frontier.contract import Explanation, Limits, Politeness, Seed
    from topiccrawl.frontier.entries import Entry

COMMIT_ROWS, ROWS_MAX = 2000, 3000  # above it a call waits for the commit in progress, to bound RAM
COMMIT_SECONDS, COMMIT_SECONDS_MAX = 0.1, 1.0
"""Seconds between two commits, and those for which one may be in progress before a call waits."""
TOLERANCE = 60.0
"""Seconds by which the system clock may be behind the last commit before times are shifted."""
logger = logging.getLogger(__name__)
BROKEN = (
    "{}: the frontier cannot be written ({}); committed data is intact: free disk space, allow"
    " writing, or raise the limits of the process (ulimit -n, -v), then start the same crawl again"
)

UNGUARDED = frozenset({"pace", "rest", "pending", "counts", "best", "census", "close"})
CHANGING = frozenset({"downloaded", "finish", "robots", "sweep", "requeue", "forget"})
"""Methods after which a commit may be due."""


class EmbeddedFrontier:
    """Frontier in a folder, for one process; the contract documents its methods.

    A failed write raises StorageError, at that call and at every later one; committed data is
    intact.

    Args:
        path: Folder; created if it does not exist.
        strategy: Scoring of links.
        politeness: Rules for requests to hosts.
        limits: Limits of the crawl.
        clock: Seconds since the epoch; by default a clock that ignores changes of the system time.
        rng: Random generator of the delays' jitter.
        share: Numbers of leases from priorQueue and from normalQueue per cycle; None for the
            strategy's.
        sync: When data is flushed to the disk; see ``store``.
        owner: Owner of the frontier; "" accepts any owner.
        clock_of: Factory of the host clock, which other crawls may share.

    Attributes:
        broken: Message of the failed write, or "".
        committer: Begins a commit; on a node it also sends the changes.

    Raises:
        StateError: Another process uses the folder; or it is of another format, strategy or owner.
        StorageError: The folder cannot be read or written.
    """

    def __init__(  # noqa: PLR0913 - all but four have defaults
        self, path: str | Path, strategy: LinkStrategy, politeness: Politeness, limits: Limits, *,
        clock: Callable[[], float] | None = None, rng: random.Random | None = None,
        share: tuple[int, int] | None = None, sync: Sync = "commit", owner: str = "",
        clock_of: Callable[[Politeness, Limits, random.Random], HostClock] = HostClock,
    ) -> None:  # fmt: skip
        self.broken = ""
        self.clock = clock or steady_clock()
        self.committer: Callable[[], None] = self.write
        self.store = Store(path, sync=sync)
        try:
            self.store.check(strategy, owner)
            rng = rng or random.Random()  # noqa: S311 - jitter
            self.host_clock = hosts = clock_of(politeness, limits, rng)
            collected = gc.isenabled()
            gc.disable()  # many objects and no garbage: collections take a third of the time
            try:
                with self.store.reading():
                    self._open(strategy, limits)
                self.ready.refresh_all()  # its errors are the strategy's, not those of the store
            finally:
                if collected:
                    gc.enable()
            self.robots_files = robots = Robots(self.store, politeness)
            self.seen = Seen(self.store, limits.seen_error)
            self.ingest = LinkIngest(self.queues, self.scorer, self.seen, limits)
            self.settlement = LeaseSettlement(
                self.queues, self.ingest, robots, hosts, limits, self.clock
            )
            self.eviction = Eviction(self.queues, self.seen, limits.max_known)
            slots = Slots(self.queues, hosts, self.clock)
            self.dispatch = Dispatch(self.queues, self.scorer, robots, slots, politeness)
            self.dispatch.share = share or strategy.share
            self.view = View(self.store, strategy)
            self._add_methods(slots)
            self._resume()
        except BaseException:
            self.store.close()
            raise

    def _open(self, strategy: LinkStrategy, limits: Limits) -> None:
        """Read hosts and rows, and build the order of the queues."""
        self.urls = Urls(self.store)
        self.registry = HostRegistry(self.store)
        self.ready = ReadyHosts(self.host_clock, self.registry, strategy)
        self.leases = Leases(self.store, limits.lease_seconds)
        self.queues = Queues(self.urls, self.registry, self.ready, self.leases, limits.max_queued)
        self.scorer = RowScorer(self.queues, strategy)
        self._progress = saved = self.store.load("progress") or {}
        self.queues.tally.update({**saved.get("tally", {}), **self.queues.tally})
        self.urls.seq = saved.get("seq", 1)
        self.leases.epoch = saved.get("epoch", 0)
        self.ready.crawl = GroupStats(*saved.get("crawl", self.ready.crawl))
        self.scorer.swept = tuple(saved.get("swept", self.scorer.swept))

    def _resume(self) -> None:
        """Resume after the previous process, also if it crashed."""
        self.dispatch.turn = self._progress.get("turn", 0)
        if self.scorer.swept[0] != self.scorer.topic:
            logger.info("%s: topic or strategy changed: queued URLs are re-scored", self.store.path)
        now = self.clock()
        ahead = self._progress.get("at", now) - now
        if ahead > TOLERANCE:
            logger.warning("%s: the system clock was set back; times are shifted", self.store.path)
            self.ready.set_back(ahead, now)
            self.queues.set_back(ahead)
        self.ready.reset_far_times(now)
        for key in self.settlement.marks.unfinished():
            self.settlement.add_crashes(key)
        try:
            self.write()
            self.store.wait_for_commit()
        except (lmdb.Error, OSError) as error:
            self.settlement.marks.abandon()
            raise self.fail(error) from error
        self.settlement.marks.clear()

    def _add_methods(self, slots: Slots) -> None:
        """Add the methods of the parts, and guard all that may read or write the store."""
        settle = self.settlement
        self.finish, self.downloaded, self.robots = settle.finish, settle.downloaded, settle.robots
        self.requeue, self.forget = settle.requeue, settle.forget
        self.sweep, self.counts = self.scorer.sweep, self.queues.counts
        self.acquire, self.release, self.waits = slots.acquire, slots.release, slots.waits
        self.left, self.pace, self.rest = slots.left, slots.pace, slots.rest
        for part in (UrlQueue, HostSlots, Reader, QueueAdmin):
            for name in vars(part).keys() - UNGUARDED:
                if name[0] != "_":
                    setattr(self, name, self._guarded(getattr(self, name)))

    def _guarded(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """Turn a failed write into a StorageError and refuse later calls: RAM and disk differ."""
        changing = method.__name__ in CHANGING

        def call(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - those of the method
            if self.broken:
                raise StorageError(self.broken)
            try:
                result = method(*args, **kwargs)
                if changing:
                    self._after_change()
            except (lmdb.Error, OSError) as error:
                raise self.fail(error) from error
            return result

        return call

    def push(self, seeds: Iterable[Seed]) -> int:
        """Queue URLs without a record in priorQueue; return the number of new ones."""
        new = 0
        for seed in seeds:
            new += self.ingest.seed(seed)
            self._after_change()
        return new

    def pop(self, n: int = 1) -> list[Lease]:
        """Return up to n leases: the best URLs of all hosts that may be requested now."""
        now = self.clock()
        self.settlement.expire(now)
        return self.dispatch.pop(n, now)

    def begin(self, lease: Lease) -> None:
        """Mark the start of processing; the mark survives a crash.

        A row that was not queued at the last commit is committed first, since a crash is counted in
        it.
        """
        if self.leases.find(lease) and lease.kind is Kind.PAGE:
            committed = self.store.committed("urls", lease.key)
            if committed is None or committed[0] != QUEUED:
                self.committer()
                self.store.wait_for_commit()
            self.settlement.marks.set(lease.key)

    def passed(self, lease: Lease) -> None:
        """Remove the mark after code that may kill the process has returned."""
        self.settlement.marks.unset(lease.key)

    def extend(self, leases: Iterable[Lease]) -> None:
        """Renew the expiry of leases."""
        self.leases.extend(leases, self.clock())

    def next_due(self) -> float | None:
        """Return seconds until ``pop`` may return a lease; None if only other calls change that."""
        return self.dispatch.next_due(self.clock())

    def pending(self) -> bool:
        """Check whether any URL is queued or leased."""
        return any(self.queues.sizes()) or bool(self.leases.by_key)

    def best(self, n: int) -> list[float]:
        """Return the values of the n best queued URLs, bias included, best first."""
        return best_values(self.registry.hosts, n)

    def census(self, n: int) -> Census:
        """Return the number of hosts by state, and figures of the n busiest hosts."""
        return census(self.registry.hosts, self.host_clock, self.clock(), n)

    def why(self, url: str) -> Explanation | None:
        """Return the stored state of a URL, or None."""
        self.registry.flush()
        return self.view.why(url)

    def iterate(self, queue: str) -> Iterator[tuple[str, float, str]]:
        """Yield (url, value, reason) of a queue: prior, normal, leased, crawled or error."""
        return self.view.iterate(queue)

    def export(self) -> Iterator[Entry]:
        """Yield all ``topiccrawl.frontier.entries``."""
        self.commit()
        return self.view.export()

    def load(self, entries: Iterable[Entry]) -> int:
        """Load an export into this frontier, which must be empty; return the number of URLs."""
        loaded = Loader(self).load(entries)
        self.commit()
        return loaded

    def commit(self, *, wait: bool = True) -> None:
        """Make all changes durable against ``kill -9``; without ``wait``, return before that."""
        if (wait or self._may_commit()) and self.changed:
            self.committer()
        if wait:
            self.store.wait_for_commit()

    def close(self) -> None:
        """Release open leases (no attempt counted), commit and unlock. Idempotent."""
        if not self.store.is_open:
            return
        try:
            if not self.broken:
                self.settlement.release_all()
                self.write()
                self.store.wait_for_commit()
            self.settlement.marks.close()
        except (lmdb.Error, OSError) as error:
            raise self.fail(error) from error
        finally:
            self.store.close()

    def abandon(self) -> None:
        """Close without a commit or release, as if the process were killed."""
        self.settlement.marks.abandon()
        self.store.close()

    def fail(self, error: Exception) -> StorageError:
        """Record a failed write and return its error; all later calls are refused."""
        if not self.store.is_open:
            return StorageError(
                "{path}: the frontier is closed: open it again", path=self.store.path
            )
        self.broken = BROKEN.format(self.store.path, error)
        return StorageError(self.broken)

    @property
    def changed(self) -> bool:
        """True if anything changed since the last commit began."""
        return bool(self.registry.dirty) or any(self.store.changes.values())

    def _after_change(self) -> None:
        """Evict records above the limit; commit if due."""
        self.eviction.step()
        self.commit_if_due()

    def commit_if_due(self) -> None:
        """Commit if enough rows changed or enough time has passed."""
        age = self.clock() - self._committed
        if len(self.store.changes["urls"]) >= COMMIT_ROWS or not 0.0 <= age < COMMIT_SECONDS:
            self.commit(wait=False)

    def _may_commit(self) -> bool:
        """Check whether no commit is in progress; wait for one that takes too long.

        The result of one that is done is read, so that its failure is noticed.
        """
        age = self.clock() - self._committed
        late = len(self.store.changes["urls"]) >= ROWS_MAX or not 0.0 <= age < COMMIT_SECONDS_MAX
        if late or self.store.commit_done():
            self.store.wait_for_commit()
        return self.store.commit_done()

    def write(self) -> None:
        """Begin a commit of all changes."""
        self.registry.flush()
        self.store.save("progress", {
            "tally": dict(self.queues.tally), "seq": self.urls.seq, "turn": self.dispatch.turn,
            "swept": self.scorer.swept, "crawl": self.ready.crawl,
            "epoch": self.leases.epoch, "at": self.clock(),
        })  # fmt: skip
        self.store.commit()
        self._committed = self.clock()
