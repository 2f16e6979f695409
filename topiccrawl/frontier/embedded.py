"""The frontier of one process, in one folder: crash-safe, with a full state for every URL."""

from __future__ import annotations

import gc
import logging
import random
import time
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

import lmdb

from topiccrawl.errors import StorageError
from topiccrawl.frontier.contract import GroupStats, Kind, Lease
from topiccrawl.frontier.dispatch import Dispatch
from topiccrawl.frontier.hosts import Places
from topiccrawl.frontier.intake import Intake, Judge
from topiccrawl.frontier.leases import Leases
from topiccrawl.frontier.politeness import HostClock, Robots, SteadyClock
from topiccrawl.frontier.queues import Queues
from topiccrawl.frontier.ready import Biases, Ready
from topiccrawl.frontier.rows import Urls
from topiccrawl.frontier.seen import Seen, Shedding
from topiccrawl.frontier.settling import Settling
from topiccrawl.frontier.store import Store, discard
from topiccrawl.frontier.transfer import Loader
from topiccrawl.frontier.view import Census, View, best_values, census

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from topiccrawl.frontier.contract import Strategy
    from topiccrawl.frontier.portable import Entry
    from topiccrawl.frontier.store import Sync
    from topiccrawl.frontier.values import Download, Explanation, Limits, Outcome, Politeness, Seed
    from topiccrawl.model import Offer

__all__ = ["EmbeddedFrontier", "discard"]

COMMIT_LINKS = 3000
COMMIT_SECONDS, COMMIT_SECONDS_MAX = 0.1, 1.0
COMMIT_SHARE = 0.1
"""Of the time that commits may take: on a slow disk they come less often, up to the maximum."""
logger = logging.getLogger(__name__)
BROKEN = (
    "{}: the frontier cannot be written ({}); what was committed is intact: make room or allow"
    " writing, then start the same crawl again"
)

P = ParamSpec("P")
R = TypeVar("R")


def _guarded(
    method: Callable[Concatenate[EmbeddedFrontier, P], R],
) -> Callable[Concatenate[EmbeddedFrontier, P], R]:
    """Turn a failed write into a StorageError, and refuse to go on with what is only in RAM."""

    @wraps(method)
    def call(self: EmbeddedFrontier, /, *args: P.args, **kwargs: P.kwargs) -> R:
        if self.broken:
            raise StorageError(self.broken)
        try:
            return method(self, *args, **kwargs)
        except (lmdb.Error, OSError) as error:
            raise self.fail(error) from error

    return call


class EmbeddedFrontier:
    """A frontier in a folder, for one process; see the contract for what each method promises.

    A write that fails raises StorageError; what was committed is intact, and every later call
    raises it again until the folder is opened anew.

    Args:
        path: Folder; made where it is missing.
        strategy: How evidence becomes order.
        politeness: How hosts are treated.
        limits: Bounds.
        clock: Seconds since the epoch; else one that follows no jumps of the machine's.
        rng: Source of the delays' jitter.
        share: Pops of priorQueue, then of normalQueue, in turn; the strategy's where None.
        sync: What is flushed to the disk when; see ``store``.
        owner: Whose frontier it is; "" asks for nobody's in particular.
        clock_of: Makes the clock of hosts; one that other crawls share.

    Attributes:
        broken: Message of the write that failed, or "".
        changed: Whether anything was since the last commit.
        committer: Commits; a node sends what changed as well. Its argument is that of ``write``.

    Raises:
        StateError: Another process uses it; or it is of another format, strategy or owner.
        StorageError: It cannot be read or written.
    """

    def __init__(  # noqa: PLR0913 - all but four have defaults
        self, path: str | Path, strategy: Strategy, politeness: Politeness, limits: Limits, *,
        clock: Callable[[], float] | None = None, rng: random.Random | None = None,
        share: tuple[int, int] | None = None, sync: Sync = "commit", owner: str = "",
        clock_of: Callable[[Politeness, Limits, random.Random], HostClock] = HostClock,
    ) -> None:  # fmt: skip
        self.broken = ""
        self.clock = clock or SteadyClock()
        self.committer: Callable[[int], None] = self.write
        self.store = Store(path, sync=sync)
        try:
            self.store.check(strategy)
            self.store.claim(owner)
            rng = rng or random.Random()  # noqa: S311 - jitter
            self.host_clock = hosts = clock_of(politeness, limits, rng)
            self.judge = Judge(strategy)
            collected = gc.isenabled()
            gc.disable()  # much is made and nothing left: looking for it takes a third of the time
            try:
                self._open(strategy, limits)
            finally:
                if collected:
                    gc.enable()
            self.robots_files = robots = Robots(self.store, politeness)
            self.seen = Seen(self.store, limits.seen_error)
            self.intake = Intake(self.queues, self.judge, self.seen, limits)
            self.settling = Settling(self.queues, self.intake, robots, hosts, limits)
            self.shedding = Shedding(self.queues, self.seen, limits.max_known)
            self.dispatch = Dispatch(self.queues, self.judge, robots, hosts, politeness, limits)
            self.dispatch.share = share or strategy.share
            self.view = View(self.store, strategy)
            self._begin()
        except BaseException:
            self.store.close()
            raise

    def _open(self, strategy: Strategy, limits: Limits) -> None:
        """Read hosts and rows, and put them in order."""
        self.urls = Urls(self.store)
        self.places = Places(self.store)
        self.ready = Ready(self.host_clock, self.places)
        biases = Biases(strategy, self.places, self.ready)
        self.leases = Leases()
        self.queues = Queues(self.urls, self.places, biases, self.leases, limits.max_queued)
        kept = self.store.load("progress")
        self._known = known = kept if isinstance(kept, dict) else {}
        self.queues.tally.update(known.get("tally", {}))
        self.urls.seq = known.get("seq", 1)
        self.leases.epoch = known.get("epoch", 0)
        biases.crawl = GroupStats(*known.get("crawl", biases.crawl))
        self.judge.swept = tuple(known.get("swept", self.judge.swept))
        biases.renew_all()

    def _begin(self) -> None:
        """Take up where the process before ended, or died."""
        self.dispatch.turn = self._known.get("turn", 0)
        if self.judge.swept[0] != self.judge.topic:
            logger.info("%s: topic or strategy changed: queued URLs are re-scored", self.store.path)
        self.ready.believe(self.clock())
        self._committed = self.clock()
        self._links, self._period = 0, COMMIT_SECONDS
        self.settling.recover()
        self.write()
        self.settling.marks.clear()

    @_guarded
    def push(self, seeds: Iterable[Seed]) -> int:
        """Queue URLs not known yet in priorQueue; number of new ones."""
        new = 0
        for seed in seeds:
            new += self.intake.seed(seed)
            self._tick(1)
        return new

    @_guarded
    def pop(self, n: int = 1) -> list[Lease]:
        """Up to n leases: the best URLs over all hosts that are allowed now, lanes in turn."""
        now = self.clock()
        self.changed = True  # committed with what is finished, or by the caller's timer
        self.settling.expire(now)
        return self.dispatch.pop(n, now)

    @_guarded
    def begin(self, lease: Lease) -> None:
        """Processing starts; remembered even if the process dies.

        A row that was not queued at the last commit is written first: the crash is counted in it.
        """
        held = self.leases.find(lease)
        if held is not None and lease.kind is Kind.PAGE:
            if held.number >= self._committed_seq or self.queues.revived:
                self.committer(0)
            self.settling.marks.set(lease.key)

    @_guarded
    def passed(self, lease: Lease) -> None:
        """Code that may kill the process has returned."""
        self.settling.marks.unset(lease.key)

    @_guarded
    def downloaded(self, lease: Lease, download: Download) -> None:
        """The download ended: free the host's slot, adapt its delay, back off on 429/503."""
        self.settling.downloaded(lease, download, self.clock())
        self._tick(0)

    @_guarded
    def finish(self, lease: Lease, outcome: Outcome, offers: Sequence[Offer] = ()) -> bool:
        """Settle a lease and its links in one transaction; False (ignored) if it is stale."""
        if len(offers) > COMMIT_LINKS:
            self.committer(len(offers))
        now = self.clock()
        done = self.settling.finish(lease, outcome, offers, now)
        self._tick(len(offers) + 1, now)
        return done

    @_guarded
    def robots(self, lease: Lease, body: bytes | None, status: int, cause: str = "") -> None:
        """Settle a robots lease with its answer."""
        self.settling.robots(lease, body, status, cause, self.clock())
        self._tick(1)

    @_guarded
    def acquire(self, host: str) -> bool:
        """Take a slot of the host's clock for a request from elsewhere; True if allowed now."""
        return self.dispatch.acquire(host.lower(), self.clock())

    @_guarded
    def release(self, host: str) -> None:
        """Give such a slot back."""
        self.dispatch.release(host.lower(), self.clock())

    @_guarded
    def waits(self, host: str) -> float:
        """Seconds for which a request that has a slot must not leave: others asked meanwhile."""
        known = self.places.find_host(host.lower())
        return 0.0 if known is None else self.host_clock.waits(known)

    @_guarded
    def left(self, host: str) -> bool:
        """A request to the host leaves now: the next one waits from here; False: it must not."""
        self.dispatch.left(host.lower(), self.clock())
        return True

    @_guarded
    def stood_still(self, seconds: float) -> None:
        """The process did nothing for so long (stopped, or busy): what was to leave left later."""
        self.dispatch.stood_still(seconds, self.clock())
        self.changed = True

    @_guarded
    def extend(self, leases: Iterable[Lease]) -> None:
        """Give leases a new expiry."""
        self.dispatch.extend(leases, self.clock())

    @_guarded
    def sweep(self, n: int = 100) -> int:
        """Re-score up to n stale records after a change of the topic; number looked at."""
        done = self.judge.sweep(self.queues, n)
        self._tick(done)
        return done

    def pace(self, speed: float) -> None:
        """Divide hosts' delays by ``speed`` from their next request on; 1 is normal."""
        self.host_clock.speed = speed

    def rest(self, ahead: float = 0.0) -> float:
        """Until when hosts want to be left alone, if requests go out for ``ahead`` more seconds."""
        clock, hosts = self.host_clock, self.places.hosts
        known = max((host.next_at for host in hosts), default=0.0)
        if not ahead:
            return known
        longest = max(map(clock.delay, hosts), default=0.0)
        return max(known, self.clock() + ahead + longest)

    @_guarded
    def next_due(self) -> float | None:
        """Seconds until ``pop`` may give something; None if only other calls can change it."""
        return self.dispatch.next_due(self.clock())

    def pending(self) -> bool:
        """Whether anything is queued or leased."""
        return any(self.queues.sizes()) or bool(self.leases.held)

    def counts(self) -> dict[str, int]:
        """Sizes of the queues and counters of what happened."""
        return self.queues.counts()

    @_guarded
    def best(self, n: int) -> list[float]:
        """Values of the n best queued URLs; see ``outlook``."""
        return best_values(self.places.hosts, n)

    def census(self, n: int) -> Census:
        """What all hosts do, and the n with most to do one by one; see ``census``."""
        return census(self.places.hosts, self.host_clock, self.clock(), n)

    @_guarded
    def why(self, url: str) -> Explanation | None:
        """All that is known of a URL, or None."""
        self._flush()
        return self.view.why(url)

    @_guarded
    def iterate(self, queue: str) -> Iterator[tuple[str, float, str]]:
        """(url, value, reason) of a queue: prior, normal, leased, crawled or error."""
        self._flush()
        return self.view.iterate(queue)

    @_guarded
    def requeue(self, url: str, value: float | None = None) -> bool:
        """Queue a URL that was settled or waits, due now; False where it is not so."""
        done = self.settling.requeue(url, self.clock(), value)
        self._tick(1)
        return done

    @_guarded
    def forget(self, url: str) -> bool:
        """Make a URL as if never seen; False where it is unknown."""
        done = self.settling.forget(url, self.clock())
        self._tick(1)
        return done

    @_guarded
    def export(self) -> Iterator[Entry]:
        """All there is, as ``portable`` describes it."""
        self.committer(0)
        return self.view.export()

    @_guarded
    def load(self, entries: Iterable[Entry]) -> int:
        """Take over an export into this frontier, which must be empty; number of URLs."""
        loader = Loader(self.queues, self.judge, self.dispatch, self.robots_files, self.seen)
        known = loader.load(entries, self._wrote)
        self.committer(0)
        return known

    @_guarded
    def commit(self) -> None:
        """Make everything so far durable against kill -9."""
        if self.changed:
            self.committer(0)

    def close(self) -> None:
        """Release what is still leased (no attempt counted), commit, unlock. Twice equals once."""
        if not self.store.is_open:
            return
        try:
            if not self.broken:
                self.settling.release_all()
                self.write()
            self.settling.marks.close()
        except (lmdb.Error, OSError) as error:
            raise self.fail(error) from error
        finally:
            self.store.close()

    def abandon(self) -> None:
        """Close and leave everything as a killed process does, since the last commit."""
        self.settling.marks.abandon()
        self.store.close()

    def fail(self, error: Exception) -> StorageError:
        """The error of a write that failed; the frontier refuses to go on."""
        self.broken = BROKEN.format(self.store.path, error)
        return StorageError(self.broken)

    def _tick(self, links: int, now: float | None = None) -> None:
        """Evict what is too much; commit by size or by age. ``now``: where it is known."""
        self._wrote(links + self.shedding.step(), now)

    def _wrote(self, links: int, now: float | None = None) -> None:
        """Commit by size or by age."""
        self.changed = True
        self._links += links
        age = (self.clock() if now is None else now) - self._committed
        if self._links >= COMMIT_LINKS or not 0.0 <= age < self._period:
            self.committer(0)

    def _flush(self) -> None:
        """Write what is kept in RAM of hosts and leases."""
        self.places.flush()
        self.leases.flush(self.store)

    def write(self, room: int = 0) -> None:
        """Commit; the next transaction has room for ``room`` links."""
        started = time.monotonic()
        self._flush()
        self.store.save("progress", {
            "tally": dict(self.queues.tally), "seq": self.urls.seq, "turn": self.dispatch.turn,
            "swept": self.judge.swept, "crawl": self.queues.biases.crawl,
            "epoch": self.leases.epoch,
        })  # fmt: skip
        self.store.commit(room)
        self.changed = False
        self._links = 0
        took = time.monotonic() - started
        self._period = min(max(COMMIT_SECONDS, took / COMMIT_SHARE), COMMIT_SECONDS_MAX)
        self._committed = self.clock()
        self._committed_seq = self.urls.seq
        self.queues.revived = False
