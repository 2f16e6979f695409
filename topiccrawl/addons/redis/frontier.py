"""Frontier of one node: a working copy of its buckets; the whole state is stored in Redis.

The working copy, an embedded frontier, answers every call of the contract at once, without waiting
for the network. Changes are sent to Redis in batches. One Lua script applies a batch completely or
not at all, and rejects a node that has timed out.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

import lmdb
import redis

from topiccrawl.addons.redis.buckets import BUCKETS, bucket_of_host
from topiccrawl.addons.redis.marks import RedisMarks
from topiccrawl.addons.redis.membership import Membership, crawl_identity
from topiccrawl.addons.redis.transport import (
    Call,
    Conversation,
    address,
    failures_of,
    run_blocking,
)
from topiccrawl.errors import StateLockedError, StorageError
from topiccrawl.frontier.embedded import EmbeddedFrontier
from topiccrawl.frontier.rows import key_of
from topiccrawl.frontier.store import discard as discard_folder
from topiccrawl.model import Kind, Lease

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from topiccrawl.frontier.contract import Limits, Politeness
    from topiccrawl.frontier.entries import Entry
    from topiccrawl.links.strategies.contract import LinkStrategy

T = TypeVar("T")

TTL = 10.0
"""Seconds without a heartbeat after which a node times out."""
BEAT = 0.2
"""Fraction of ``TTL`` after which the next call on an attached node exchanges a batch."""


def base_of(name: str) -> str:
    """Return the prefix of the keys of a crawl, which share one hash tag.

    >>> base_of("nev")
    '{topiccrawl:nev}:'
    """
    return "{topiccrawl:" + name + "}:"


class RedisClock:
    """Clock of Redis, seconds since the epoch, derived from the monotonic clock."""

    def __init__(self) -> None:
        self._offset = time.time() - time.monotonic()

    def __call__(self) -> float:
        """Return the current time."""
        return time.monotonic() + self._offset

    def adjust(self, now: float, sent: float, received: float) -> None:
        """Adjust the clock to a reading of the clock of Redis, as far as it proves an error.

        A late reply, such as after a stop of the process, must not set the clock back: a host would
        be requested too early.

        Args:
            now: Time of Redis, seconds since the epoch.
            sent: Time before the reading (``time.monotonic``).
            received: Time after the reading (``time.monotonic``).

        >>> clock = RedisClock()
        >>> before = clock()
        >>> clock.adjust(before, time.monotonic() - 9.0, time.monotonic() + 9.0)
        >>> clock() - before < 1.0
        True
        """
        self._offset = min(max(self._offset, now - received), now - sent)


class SharedFrontier:
    """Frontier in Redis for one of several nodes; the contract documents its methods.

    Args:
        client: Client of the Redis server, without decoding of responses.
        name: Name of the crawl, which all nodes with this name share.
        folder: Folder of the working copy; its content is deleted.
        strategy: Strategy that orders URLs by their evidence.
        politeness: Rules of requests to hosts.
        limits: Limits of the frontier.
        clock: Clock, seconds since the epoch; the clock of Redis if None.
        share: Numbers of pops of priorQueue and normalQueue in turn; those of the strategy if None.
        owner: Owner of the frontier.
        ttl: Seconds without a heartbeat after which a node times out.
        attached: Whether calls exchange batches with Redis; otherwise a sync task has to.
        again: Whether crawled pages will be requeued.

    Raises:
        StorageError: If Redis cannot be reached.
        StateVersionError: If Redis holds a crawl of this name with another strategy, format or
            owner.
        StateLockedError: If another process uses the folder.
    """

    def __init__(  # noqa: PLR0913 - all but six have defaults
        self, client: redis.Redis, name: str, folder: str | Path, strategy: LinkStrategy,
        politeness: Politeness, limits: Limits, *, clock: Callable[[], float] | None = None,
        share: tuple[int, int] | None = None, owner: str = "", ttl: float = TTL,
        attached: bool = True, again: bool = False,
    ) -> None:  # fmt: skip
        discard_folder(folder)
        self.base = base_of(name)
        self.redis_clock = RedisClock()
        self._attached = self._conversing = self._gone = False
        self._client = client
        self.local = EmbeddedFrontier(
            folder, strategy, politeness, limits, clock=clock or self.redis_clock, share=share,
            sync="never",
        )  # fmt: skip
        try:
            self._compose(ttl, crawl_identity(strategy, owner), again=again)
            self._enter()
            if attached:
                self._attached = True
                self.settle()
        except BaseException:
            self.local.close()
            raise

    def _compose(self, ttl: float, identity: str, *, again: bool) -> None:
        """Connect the working copy with the other nodes."""
        local = self.local
        self.membership = Membership(
            self.base, identity, ttl, frontier=local, again=again,
            sync_clock=self.redis_clock.adjust,
        )  # fmt: skip
        self.turns = self.membership.turns
        local.registry.new_ready = False
        local.committer = self._write
        self.clock = local.clock
        self.push, self.finish, self.robots = local.push, local.finish, local.robots
        self.commit = local.commit  # which calls _write
        self.passed, self.downloaded, self.extend = local.passed, local.downloaded, local.extend
        self.release, self.pace = local.release, local.pace
        self.waits = local.waits
        self.sweep, self.rest, self.forget = local.sweep, local.rest, local.forget
        self.why, self.iterate, self.export = local.why, local.iterate, local.export
        self.best, self.census, self.view = local.best, local.census, local.view

    def _enter(self) -> None:
        """Join the crawl and request the buckets of this node."""
        self.run(self.membership.join())
        marks = RedisMarks(self._client, self.base, lambda: self.membership.epoch)
        self.local.settlement.marks.close()
        self.local.settlement.marks = marks
        for _ in range(3):  # detect dead nodes, remove them, take their buckets
            self.run(self.membership.converse(look=True))

    # -- conversations -----------------------------------------------------------------------------

    def converse(self, *, look: bool, patient: bool = True) -> Conversation[bool]:
        """Send changes and receive messages; return whether anything was received."""
        if self.local.broken:
            raise StorageError(self.local.broken)
        try:
            if self.local.changed or self.membership.partitions.loading():  # of a large bucket
                self.local.write()
        except (lmdb.Error, OSError) as error:
            raise self.local.fail(error) from error
        return (yield from self.membership.converse(look=look, patient=patient))

    def run(self, steps: Conversation[T]) -> T:
        """Run a conversation to its end, blocking; see ``run_blocking``."""
        self._conversing = True
        try:
            return run_blocking(self._client, steps)
        finally:
            self._conversing = False

    def settle(self) -> None:
        """Exchange batches until all buckets of this node are loaded."""
        self._exchange(look=True)
        self._exchange(look=False)  # receives the buckets requested by the first exchange
        while self.membership.partitions.loading():
            self.run(self.membership.partitions.load(self.base))
            self._exchange(look=False)
        while self.membership.receiving():
            self._exchange(look=True)

    def _exchange(self, *, look: bool) -> None:
        self.run(self.converse(look=look, patient=False))
        self._beat = time.monotonic()

    def _keep_alive(self) -> None:
        if self._attached and time.monotonic() - self._beat > BEAT * self.membership.ttl:
            self.settle()

    def _take_turns(self) -> bool:
        """Request wanted turns if there is no sync task; return whether any was granted."""
        if not (self._attached and self.turns.wants()):
            return False
        return self.run(self.turns.exchange(""))

    def _write(self) -> None:
        """Commit the working copy, and send changes if there is no sync task."""
        self.local.write()
        if self._attached and not self._conversing:  # the conversation may be applying messages
            self._exchange(look=False)

    # -- methods of the contract that depend on other nodes ----------------------------------------

    def pop(self, n: int = 1) -> list[Lease]:
        """Return up to n leases; none while this node may have timed out."""
        self._keep_alive()
        self._take_turns()
        if not self.membership.may_serve():
            return []
        leases = self.local.pop(n)
        if len(leases) < n and self._take_turns():  # delayed URLs have become due
            leases += self.local.pop(n - len(leases))
        return leases

    def begin(self, lease: Lease) -> None:
        """Record that processing starts; the record survives a crash of the process."""
        if lease.kind is Kind.PAGE and self.local.leases.find(lease) is not None:
            self.local.settlement.marks.set(lease.key)

    def acquire(self, host: str) -> bool:
        """Take a slot of the clock of a host for a request without a lease; True if allowed now."""
        if not self.membership.may_serve():
            return False
        known = self.local.registry.host(host.lower())
        self.turns.need(known)
        self._take_turns()
        if not self.membership.partitions.closing(bucket_of_host(known.name)):
            return self.local.acquire(host)
        known.closed = False  # requests of open leases are still allowed
        try:
            return self.local.acquire(host)
        finally:
            known.closed = True
            self.local.ready.reschedule(known, self.clock())

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
        if not membership.idle():
            return True
        if membership.is_only_node():
            return False
        return not membership.settled or membership.view.pending(membership.epoch)

    def counts(self) -> dict[str, int]:
        """Return the sizes of the queues over all nodes, and counters of events."""
        counts = self.local.counts()
        others = self.membership.view.other_sizes(self.membership.epoch)
        for name, size in zip(("prior", "normal", "leased"), others, strict=True):
            counts[name] += size
        return counts

    def requeue(self, url: str, value: float | None = None) -> bool:
        """Requeue a URL that is settled or delayed, due now.

        Returns:
            False if it has another state, belongs to another node, or Redis cannot be reached.
        """
        key = key_of(url)
        if self._attached and self.local.urls.row(key) and not self.local.urls.links(key):
            try:  # the copy lacks links of pages crawled earlier; links in the copy are newer
                links = self._client.hget(f"{self.base}out:{key[0]}", key)
            except redis.RedisError:
                return False
            if isinstance(links, bytes):
                self.membership.copy.take_links(key, links)
        return self.local.requeue(url, value)

    def load(self, entries: Iterable[Entry]) -> int:
        """Load an export into this frontier, which must be empty; return the number of URLs.

        Raises:
            StateLockedError: If other nodes work on the crawl.
        """
        if not self.membership.is_only_node():
            raise StateLockedError(
                "{base}: other nodes work on this crawl; stop them first", base=self.base
            )
        return self.local.load(entries)

    def close(self) -> None:
        """Release all leases, return all buckets and leave the crawl. Idempotent."""
        if self._gone:
            return
        self._gone = True
        self._attached = False
        try:
            self.local.settlement.release_all()
            self.local.write()
            self.run(self.membership.leave())
        except (lmdb.Error, OSError) as error:
            raise self.local.fail(error) from error
        finally:
            self.local.close()
            discard_folder(self.local.store.path)

    def abandon(self) -> None:
        """Close without any cleanup, as if the process was killed."""
        self.local.abandon()


def discard(client: redis.Redis, name: str) -> None:
    """Delete a crawl that no node works on, if it exists.

    Raises:
        StateLockedError: If a node works on it.
        StorageError: If Redis cannot be reached.
    """
    with failures_of(client):
        alive = Call("discard", base_of(name), (BUCKETS,)).on(client)
    if alive:
        raise StateLockedError(
            "{address}: {alive} node(s) work on {name}; stop them, or wait "
            "until they time out ({ttl:g} s after a crash)",
            address=address(client),
            alive=alive,
            name=name,
            ttl=TTL,
        )
