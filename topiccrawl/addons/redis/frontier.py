"""The frontier of one node: a working copy of its part; the whole state is stored in Redis.

Every call of the contract is answered by the working copy at once, with the embedded frontier's own
code; nothing waits for the network. Changes go to Redis in batches: one Lua script applies all
of a batch or nothing, and refuses a node that has timed out.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import lmdb
import redis

from topiccrawl.addons.redis.buckets import BUCKETS, bucket_of_host
from topiccrawl.addons.redis.changes import Changes
from topiccrawl.addons.redis.host_turns import REGISTER, Turns
from topiccrawl.addons.redis.identity import about
from topiccrawl.addons.redis.marks import RedisMarks
from topiccrawl.addons.redis.membership import Membership
from topiccrawl.addons.redis.messages import Outpost, Route
from topiccrawl.addons.redis.transport import Call, Steps, Wire, address
from topiccrawl.addons.redis.working_copy import WorkingCopy
from topiccrawl.errors import StateLockedError, StorageError
from topiccrawl.frontier.embedded import EmbeddedFrontier
from topiccrawl.frontier.rows import key_of
from topiccrawl.frontier.store import discard as discard_folder
from topiccrawl.model import Kind, Lease

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from topiccrawl.frontier.contract import Limits, Politeness
    from topiccrawl.frontier.entries import Entry
    from topiccrawl.links.strategies.contract import LinkStrategy

TTL = 10.0
"""Seconds of silence after which a node times out."""
CRASH_WAIT = 2.0
"""Times ``TTL`` that a page waits for each timeout of its node while it was processed: its node
may be back before the next one tries it, so that one page does not end all of them."""
BEAT = 0.2
"""Fraction of ``TTL`` after which the next call on an attached node exchanges."""


def base_of(name: str) -> str:
    """Return the prefix of a crawl's keys; they share one hash tag.

    >>> base_of("nev")
    '{topiccrawl:nev}:'
    """
    return "{topiccrawl:" + name + "}:"


class RedisClock:
    """Seconds since the epoch as Redis counts them, computed from this machine's steady clock."""

    def __init__(self) -> None:
        self._offset = time.time() - time.monotonic()

    def __call__(self) -> float:
        """Return the current time."""
        return time.monotonic() + self._offset

    def hear(self, now: float, sent: float, heard: float) -> None:
        """Follow Redis, whose clock read ``now`` between two moments (``time.monotonic``).

        Only what those two exclude is corrected: an answer that was not read while the process was
        stopped says little, and must not set the clock back (a host would be requested too soon).

        >>> clock = RedisClock()
        >>> before = clock()
        >>> clock.hear(before, time.monotonic() - 9.0, time.monotonic() + 9.0)
        >>> clock() - before < 1.0
        True
        """
        self._offset = min(max(self._offset, now - heard), now - sent)


class SharedFrontier:
    """A frontier in Redis, for one of several nodes; the contract documents its methods.

    Args:
        client: Of the Redis server, without decoding of responses.
        name: Of the crawl: nodes of one name share it.
        folder: For the working copy; its content is deleted.
        strategy: Turns evidence into an order.
        politeness: Rules of requests to hosts.
        limits: Bounds.
        clock: Seconds since the epoch; the clock of Redis if None.
        rng: Source of the delays' jitter.
        share: Pops of priorQueue, then of normalQueue, in turn; the strategy's if None.
        owner: Owner of the frontier.
        ttl: Seconds of silence after which a node times out.
        register: Key prefix of the turns at hosts; if "", the one that all crawls share, or this
            crawl's own if ``clock`` is given.
        attached: Whether calls carry the conversations with Redis themselves; otherwise a sync task
            has to. ``commit`` waits until Redis has all; other calls may only have sent it.
        again: Whether crawled pages will be queued again.

    Raises:
        StorageError: Redis cannot be reached.
        StateVersionError: It holds a crawl of this name for another strategy, format or owner.
        StateLockedError: Another process uses the folder.
    """

    def __init__(  # noqa: PLR0913 - all but six have defaults
        self, client: redis.Redis, name: str, folder: str | Path, strategy: LinkStrategy,
        politeness: Politeness, limits: Limits, *, clock: Callable[[], float] | None = None,
        rng: random.Random | None = None, share: tuple[int, int] | None = None, owner: str = "",
        ttl: float = TTL, attached: bool = True, register: str = "",
        again: bool = False,
    ) -> None:  # fmt: skip
        discard_folder(folder)
        self.base = base_of(name)
        self.steady = RedisClock()
        self._attached = False
        self._gone = False
        self._wire = Wire(client)
        self.local = EmbeddedFrontier(
            folder, strategy, politeness, limits, clock=clock or self.steady, rng=rng,
            share=share, sync="never",
        )  # fmt: skip
        try:
            self._compose(
                register or (REGISTER if clock is None else f"{self.base}own:"), ttl,
                about(strategy, owner), again=again,
            )  # fmt: skip
            self._enter(client)
            if attached:
                self._attached = True
                self.settle()
        except BaseException:
            self._gone = True
            self.local.close()
            raise

    def _compose(self, register: str, ttl: float, text: str, *, again: bool) -> None:
        """Connect the working copy: its changes, its turns, its messages to other nodes."""
        local = self.local
        self.turns = Turns(register, ttl, local.host_clock, local.ready, local.clock)
        local.host_clock.turn = self.turns.ours
        local.store.feed = changes = Changes()
        local.places.new_ready = False
        route = Route()
        local.shedding.mine = route.mine
        numbers = len(local.judge.strategy.fields)
        local.ingest.elsewhere = outpost = Outpost(local.ingest, local.urls, route, numbers)
        local.committer = self._write
        self._copy = WorkingCopy(local, changes, self.turns.let_go, CRASH_WAIT * ttl)
        self.membership = Membership(
            self.base, text, ttl, frontier=local, changes=changes, route=route, outpost=outpost,
            copy=self._copy, hear_time=self.steady.hear, turns=self.turns, again=again,
        )  # fmt: skip
        self.clock = local.clock
        self.push, self.finish, self.robots = local.push, local.finish, local.robots
        self.passed, self.downloaded, self.extend = local.passed, local.downloaded, local.extend
        self.release, self.stood_still, self.pace = local.release, local.stood_still, local.pace
        self.waits = local.waits
        self.sweep, self.rest, self.forget = local.sweep, local.rest, local.forget
        self.why, self.iterate, self.export = local.why, local.iterate, local.export
        self.best, self.census, self.view = local.best, local.census, local.view

    def _enter(self, client: redis.Redis) -> None:
        """Join the crawl and ask for this node's part."""
        self._wire.run(self.membership.join())
        self.local.settling.marks.close()
        self.local.settling.marks = RedisMarks(client, self.base, lambda: self.membership.epoch)
        for _ in range(3):  # dead nodes are detected, removed, and their buckets taken
            self._wire.run(self.membership.converse(look=True))
        self._beat = time.monotonic()

    # -- conversations -----------------------------------------------------------------------------

    def converse(self, *, look: bool, patient: bool = True) -> Steps[bool]:
        """Send changes and receive what is new; return whether anything came."""
        if self.local.broken:
            raise StorageError(self.local.broken)
        try:
            dirty = self.local.changed or self.local.places.dirty
            if dirty or self.membership.partitions.loading():  # a part may be large
                self.local.write()
        except (lmdb.Error, OSError) as error:
            raise self.local.fail(error) from error
        return (yield from self.membership.converse(look=look, patient=patient))

    def settle(self) -> None:
        """Exchange until all that this node should serve is loaded."""
        self._exchange(look=True)
        self._exchange(look=False)  # receives what the first one asked for
        while self.membership.partitions.loading():
            self._wire.run(self.membership.partitions.load(self.base))
            self._exchange(look=False)
        while self.membership.reading():
            self._exchange(look=True)

    def _exchange(self, *, look: bool) -> None:
        self._wire.run(self.converse(look=look, patient=False))
        self._beat = time.monotonic()

    def _keep_alive(self) -> None:
        if self._attached and time.monotonic() - self._beat > BEAT * self.membership.ttl:
            self.settle()

    def _take_turns(self) -> bool:
        """Ask for wanted turns at hosts if there is no sync task; return whether any came."""
        if not (self._attached and self.turns.wants()):
            return False
        return self._wire.run(self.turns.talk(""))

    def _write(self) -> None:
        """Commit the working copy, and send changes if there is no sync task."""
        if not self._attached:
            self.local.write()
        else:  # Redis works while the caller does: its answer is read the next time
            self._wire.hear()
            self.local.write()
            self._wire.send(self.converse(look=False, patient=False))
            self._beat = time.monotonic()

    # -- the contract, where more than one node makes a difference ---------------------------------

    def commit(self, *, wait: bool = True) -> None:
        """Make all changes durable: in Redis if attached; otherwise the sync task sends them."""
        self.local.commit(wait=wait)
        self._wire.hear()

    def pop(self, n: int = 1) -> list[Lease]:
        """Return up to n leases; none while this node may have timed out."""
        self._keep_alive()
        self._take_turns()
        if not self.membership.may_serve():
            return []
        leases = self.local.pop(n)
        if len(leases) < n and self._take_turns():  # what waited for a time has come
            leases += self.local.pop(n - len(leases))
        return leases

    def begin(self, lease: Lease) -> None:
        """Record that processing starts; the record survives the death of the process."""
        if lease.kind is Kind.PAGE and self.local.leases.find(lease) is not None:
            self.local.settling.marks.set(lease.key)

    def acquire(self, host: str) -> bool:
        """Take a slot of the host's clock for a request from elsewhere; True if allowed now."""
        if not self.membership.may_serve():
            return False
        known = self.local.places.host(host.lower())
        self.turns.need(known)
        self._take_turns()
        if not self.membership.partitions.closing(bucket_of_host(known.name)):
            return self.local.acquire(host)
        known.shut = False  # a lease has to continue so that it ends
        try:
            return self.local.acquire(host)
        finally:
            known.shut = True
            self.local.ready.settle(known, self.clock())

    def left(self, host: str) -> bool:
        """Record a request sent to the host; False if this node may have timed out."""
        return self.membership.may_serve() and self.local.left(host)

    def next_due(self) -> float | None:
        """Return the seconds until ``pop`` may lease something; None if only calls change that."""
        self._keep_alive()
        self._take_turns()
        return self.local.next_due() if self.membership.may_serve() else None

    def pending(self) -> bool:
        """Return whether anything is queued or leased on any node."""
        membership = self.membership
        self._wire.hear()  # what was sent keeps a node from being idle
        if not membership.idle():
            return True
        if membership.alone():
            return False
        if self._attached and not membership.settled:
            self.settle()
        return not membership.settled or membership.view.pending(membership.epoch)

    def counts(self) -> dict[str, int]:
        """Return the sizes of the queues over all nodes, and counters of events."""
        counts = self.local.counts()
        others = self.membership.view.elsewhere(self.membership.epoch)
        for name, size in zip(("prior", "normal", "leased"), others, strict=True):
            counts[name] += size
        return counts

    def requeue(self, url: str, value: float | None = None) -> bool:
        """Queue a URL that was settled or waits, due now.

        Returns:
            False if it is in no such state, belongs to another node, or Redis is away.
        """
        key = key_of(url)
        if self._attached and self.local.urls.find(key) and not self.local.urls.links(key):
            try:  # links of pages crawled earlier are not in the copy; links in the copy are newer
                links = self._wire.client.hget(f"{self.base}out:{key[0]}", key)
            except redis.RedisError:
                return False
            if isinstance(links, bytes):
                self._copy.take_links(key, links)
        return self.local.requeue(url, value)

    def load(self, entries: Iterable[Entry]) -> int:
        """Load an export into this frontier, which must be empty; return the number of URLs.

        Raises:
            StateLockedError: Other nodes have a part of it.
        """
        if not self.membership.alone():
            raise StateLockedError(
                "{base}: other nodes work on this crawl; stop them first", base=self.base
            )
        return self.local.load(entries)

    def close(self) -> None:
        """Release all leases, give all buckets back and leave. Twice equals once."""
        if self._gone:
            return
        self._gone = True
        self._attached = False
        self.local.settling.release_all()
        self.local.write()
        try:
            self._wire.run(self.membership.leave())
        finally:
            self.local.close()
            discard_folder(self.local.store.path)

    def abandon(self) -> None:
        """Leave everything as a killed process leaves it."""
        self.local.abandon()


def discard(client: redis.Redis, name: str) -> None:
    """Delete a crawl that no node works on; do nothing if there is none.

    Raises:
        StateLockedError: A node is alive.
        StorageError: Redis cannot be reached.
    """
    alive = Wire(client).run(_discard(base_of(name)))
    if alive:
        raise StateLockedError(
            "{address}: {alive} node(s) work on {name}; stop them, or wait "
            "until they are given up ({ttl:g} s after a crash)",
            address=address(client),
            alive=alive,
            name=name,
            ttl=TTL,
        )


def _discard(base: str) -> Steps[int]:
    return int((yield Call("discard", base, (BUCKETS,))))
