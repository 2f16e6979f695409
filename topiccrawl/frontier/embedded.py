"""The frontier of one process, in one folder: crash-safe, with a full state for every URL."""

from __future__ import annotations

import random
from functools import wraps
from typing import TYPE_CHECKING, ClassVar, Concatenate, ParamSpec, TypeVar

import lmdb

from topiccrawl.errors import StorageError
from topiccrawl.frontier.about import check, claim
from topiccrawl.frontier.census import Census, census
from topiccrawl.frontier.clock import HostClock, SteadyClock
from topiccrawl.frontier.contract import Kind, Lease
from topiccrawl.frontier.dispatch import Dispatch
from topiccrawl.frontier.endings import Endings
from topiccrawl.frontier.hand import Hand
from topiccrawl.frontier.judge import Judge
from topiccrawl.frontier.offers import Intake
from topiccrawl.frontier.outlook import best_values
from topiccrawl.frontier.shedding import Shedding
from topiccrawl.frontier.state import State
from topiccrawl.frontier.store import Store, discard
from topiccrawl.frontier.sweep import sweep
from topiccrawl.frontier.transfer import Loader
from topiccrawl.frontier.view import View

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from topiccrawl.frontier.contract import (
        Download,
        Explanation,
        Limits,
        Outcome,
        Politeness,
        Seed,
        Strategy,
    )
    from topiccrawl.frontier.portable import Entry
    from topiccrawl.frontier.store import Sync
    from topiccrawl.model import Offer

__all__ = ["EmbeddedFrontier", "discard"]

COMMIT_LINKS = 3000
COMMIT_SECONDS = 0.1

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

    Attributes:
        broken: Message of the write that failed, or "".

    Raises:
        StateError: Another process uses it; or it is of another format, strategy or owner.
        StorageError: It cannot be read or written.
    """

    store_type: ClassVar[type[Store]] = Store
    intake_type: ClassVar[type[Intake]] = Intake
    clock_type: ClassVar[type[HostClock]] = HostClock

    def __init__(  # noqa: PLR0913 - all but four have defaults
        self, path: str | Path, strategy: Strategy, politeness: Politeness, limits: Limits, *,
        clock: Callable[[], float] | None = None, rng: random.Random | None = None,
        share: tuple[int, int] | None = None, sync: Sync = "checkpoint", owner: str = "",
    ) -> None:  # fmt: skip
        self.broken = ""
        self._store = self.store_type(path, sync=sync)
        try:
            check(self._store, strategy)
            claim(self._store, owner)
            rng = rng or random.Random()  # noqa: S311 - jitter
            state = State(self._store, strategy, politeness, limits, rng, self.clock_type)
            self._state = state
            self._clock = clock = clock or SteadyClock()
            state.ready.believe(clock())
            self._intake = self.intake_type(state, strategy, limits)
            self._endings = Endings(state, self._intake, limits)
            self._hand = Hand(state, self._endings, self._intake)
            self._shedding = Shedding(state, limits.max_known)
            share = share or strategy.share
            self._judge = Judge(strategy)
            self._dispatch = Dispatch(state, self._judge, self._endings, politeness, limits, share)
            self._view = View(self._store, strategy)
            self._strategy = strategy
            self._committed, self._committed_epoch = clock(), 0
            self._links, self._changed = 0, True
            self._endings.recover(limits.max_crashes)
            self.commit()
            self._endings.marks.clear()
        except BaseException:
            self._store.close()
            raise

    @property
    def clock(self) -> Callable[[], float]:
        """What its times are told by."""
        return self._clock

    @_guarded
    def push(self, seeds: Iterable[Seed]) -> int:
        """Queue URLs not known yet in priorQueue; number of new ones."""
        new = 0
        for seed in seeds:
            new += self._intake.seed(seed)
            self._tick(1)
        return new

    @_guarded
    def pop(self, n: int = 1) -> list[Lease]:
        """Up to n leases: the best URLs over all hosts that are allowed now, lanes in turn."""
        self._changed = True  # committed with what is finished, or by the caller's timer
        return self._dispatch.pop(n, self._clock())

    @_guarded
    def begin(self, lease: Lease) -> None:
        """Processing starts; remembered even if the process dies.

        A lease that was not committed yet is, so that there is a row to count the crash in.
        """
        if lease.kind is Kind.PAGE and self._state.leases.find(lease) is not None:
            if lease.epoch > self._committed_epoch:
                self._commit()
            self._endings.marks.set(lease.key)

    @_guarded
    def passed(self, lease: Lease) -> None:
        """Code that may kill the process has returned."""
        self._endings.marks.unset(lease.key)

    @_guarded
    def downloaded(self, lease: Lease, download: Download) -> None:
        """The download ended: free the host's slot, adapt its delay, back off on 429/503."""
        self._endings.downloaded(lease, download, self._clock())
        self._tick(0)

    @_guarded
    def finish(self, lease: Lease, outcome: Outcome, offers: Sequence[Offer] = ()) -> bool:
        """Settle a lease and its links in one transaction; False (ignored) if it is stale."""
        if len(offers) > COMMIT_LINKS:
            self._commit(len(offers))
        now = self._clock()
        done = self._endings.finish(lease, outcome, offers, now)
        self._tick(len(offers) + 1, now)
        return done

    @_guarded
    def robots(self, lease: Lease, body: bytes | None, status: int, cause: str = "") -> None:
        """Settle a robots lease with its answer."""
        self._endings.robots(lease, body, status, cause, self._clock())
        self._tick(1)

    @_guarded
    def acquire(self, host: str) -> bool:
        """Take a slot of the host's clock for a request from elsewhere; True if allowed now."""
        return self._dispatch.acquire(host.lower(), self._clock())

    @_guarded
    def release(self, host: str) -> None:
        """Give such a slot back."""
        self._dispatch.release(host.lower(), self._clock())

    @_guarded
    def waits(self, host: str) -> float:
        """Seconds for which a request that has a slot must not leave: others asked meanwhile."""
        known = self._state.places.find_host(host.lower())
        return 0.0 if known is None else self._state.clock.waits(known)

    @_guarded
    def left(self, host: str) -> bool:
        """A request to the host leaves now: the next one waits from here; False: it must not."""
        self._dispatch.left(host.lower(), self._clock())
        return True

    @_guarded
    def stood_still(self, seconds: float) -> None:
        """The process did nothing for so long (stopped, or busy): what was to leave left later."""
        self._dispatch.stood_still(seconds, self._clock())
        self._changed = True

    @_guarded
    def extend(self, leases: Iterable[Lease]) -> None:
        """Give leases a new expiry."""
        self._dispatch.extend(leases, self._clock())

    @_guarded
    def sweep(self, n: int = 100) -> int:
        """Look at up to n rows, give those of an older strategy version new values; how many.

        0 when all are of the current version. Called in idle moments; progress is kept.
        """
        done = sweep(self._state, self._judge, n)
        self._tick(done)
        return done

    def pace(self, speed: float) -> None:
        """Divide hosts' delays by ``speed`` from their next request on; 1 is normal."""
        self._state.clock.speed = speed

    def rest(self, ahead: float = 0.0) -> float:
        """Until when hosts want to be left alone, if requests go out for ``ahead`` more seconds."""
        clock, hosts = self._state.clock, self._state.places.hosts
        known = max((host.next_at for host in hosts), default=0.0)
        if not ahead:
            return known
        longest = max(map(clock.delay, hosts), default=0.0)
        return max(known, self._clock() + ahead + longest)

    @_guarded
    def next_due(self) -> float | None:
        """Seconds until ``pop`` may give something; None if only other calls can change it."""
        return self._dispatch.next_due(self._clock())

    def pending(self) -> bool:
        """Whether anything is queued or leased."""
        return any(self._state.queue_sizes()) or bool(self._state.leases.held)

    def counts(self) -> dict[str, int]:
        """Sizes of the queues and counters of what happened."""
        return self._state.counts()

    @_guarded
    def best(self, n: int) -> list[float]:
        """Values of the n best queued URLs; see ``outlook``."""
        return best_values(self._state, n)

    def census(self, n: int) -> Census:
        """What all hosts do, and the n with most to do one by one; see ``census``."""
        return census(self._state, self._clock(), n)

    @_guarded
    def why(self, url: str) -> Explanation | None:
        """All that is known of a URL, or None."""
        self._state.flush()
        return self._view.why(url)

    @_guarded
    def iterate(self, queue: str) -> Iterator[tuple[str, float, str]]:
        """(url, value, reason) of a queue: prior, normal, leased, crawled or error."""
        self._state.flush()
        return self._view.iterate(queue)

    @_guarded
    def requeue(self, url: str, value: float | None = None) -> bool:
        """Queue a URL that was settled or waits, due now; False where it is not so."""
        done = self._hand.requeue(url, self._clock(), value)
        self._tick(1)
        return done

    @_guarded
    def forget(self, url: str) -> bool:
        """Make a URL as if never seen; False where it is unknown."""
        done = self._hand.forget(url, self._clock())
        self._tick(1)
        return done

    @_guarded
    def export(self) -> Iterator[Entry]:
        """All there is, as ``portable`` describes it."""
        self._commit()
        return self._view.export()

    @_guarded
    def load(self, entries: Iterable[Entry]) -> int:
        """Take over an export into this frontier, which must be empty; number of URLs."""
        known = Loader(self._state, self._strategy).load(entries, self._wrote)
        self._commit()
        return known

    @_guarded
    def commit(self) -> None:
        """Make everything so far durable against kill -9."""
        if self._changed:
            self._commit()

    def close(self) -> None:
        """Release what is still leased (no attempt counted), commit, unlock. Twice equals once."""
        if not self._store.is_open:
            return
        try:
            if not self.broken:
                self._endings.release_all()
                self._commit()
            self._endings.marks.close()
            self._store.close(clean=not self.broken)
        except (lmdb.Error, OSError) as error:
            self._store.close(clean=False)
            raise self.fail(error) from error

    def fail(self, error: Exception) -> StorageError:
        """The error of a write that failed; the frontier refuses to go on."""
        self.broken = BROKEN.format(self._store.path, error)
        return StorageError(self.broken)

    def _tick(self, links: int, now: float | None = None) -> None:
        """Let go of what is too much; commit by size or by age. ``now``: where it was told."""
        self._wrote(links + self._shedding.step(), now)

    def _wrote(self, links: int, now: float | None = None) -> None:
        """Commit by size or by age."""
        self._changed = True
        self._links += links
        age = (self._clock() if now is None else now) - self._committed
        if self._links >= COMMIT_LINKS or not 0.0 <= age < COMMIT_SECONDS:
            self._commit()

    def _commit(self, room: int = 0) -> None:
        self._state.commit(self._links, room)
        self._changed = False
        self._links = 0
        self._committed = self._clock()
        self._committed_epoch = self._state.leases.epoch
