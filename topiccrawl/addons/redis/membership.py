"""Membership of a node in a crawl: registration, batches, replies, other nodes. No network here.

The registration of a node has an epoch and an expiry. A late node is timed out by the others: its
epoch is rejected from then on, and its buckets are free.
"""

from __future__ import annotations

import json
import logging
import time
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import msgpack

from topiccrawl.addons.redis.buckets import BUCKETS
from topiccrawl.addons.redis.changes import Changes, Counters
from topiccrawl.addons.redis.host_turns import HostTurns
from topiccrawl.addons.redis.messages import NodeForwarder, Route
from topiccrawl.addons.redis.partitions import NOTHING, Partitions, View, view_of
from topiccrawl.addons.redis.transport import Call, Conversation
from topiccrawl.addons.redis.working_copy import WorkingCopy
from topiccrawl.errors import StateVersionError, StorageError
from topiccrawl.storage.identity import is_dead, own_identity

if TYPE_CHECKING:
    from collections.abc import Callable

    from topiccrawl.frontier.embedded import EmbeddedFrontier
    from topiccrawl.links.strategies.contract import LinkStrategy

logger = logging.getLogger(__name__)

FORMAT = [2, 2]
"""Version of the keys and messages (``lua``), and version of the rows, hosts and statistics in
them. Increase the number of what changes: nodes of different formats must not share a crawl."""
CRASH_WAIT = 2.0
"""Delay of a page for each timeout of a node that was processing it, in units of the time to live.
The node may recover before another one retries the page, so that one page does not crash all
nodes."""
EPOCH_BITS = 40
"""Low bits of a lease number; the high bits are the epoch of the registration."""


class Membership:
    """Protocol between a node and Redis.

    Args:
        base: Prefix of the keys of the crawl.
        identity: Identity of the crawl (JSON); nodes of another crawl are rejected.
        ttl: Seconds without a heartbeat after which a node times out.
        frontier: The working copy, whose changes, links and turns at hosts are shared from now on.
        again: Whether pages will be crawled again.
        sync_clock: Called with the time of Redis and the times (``time.monotonic``) before and
            after its reading.

    Attributes:
        turns: Turns at hosts, over all crawls.
        copy: Loads and evicts buckets.
        epoch: Epoch of the registration; 0 while there is none.
        safe_until: Time (``time.monotonic``) until which no other node can time out this one.
        view: Last view of the whole crawl.
        partitions: Buckets of this node.
        settled: Whether this node was idle at the last view and has been since.
    """

    def __init__(
        self, base: str, identity: str, ttl: float, *, frontier: EmbeddedFrontier, again: bool,
        sync_clock: Callable[[float, float, float], None],
    ) -> None:  # fmt: skip
        self.base, self.identity, self.ttl = base, identity, ttl
        self._frontier, self._sync_clock = frontier, sync_clock
        self._queues, self._leases = frontier.queues, frontier.leases
        self.turns = HostTurns(ttl, frontier.host_clock, frontier.ready, frontier.clock)
        frontier.host_clock.may_request = self.turns.ours
        self._changes = frontier.store.feed = Changes()
        self._counters = Counters(frontier.queues)
        self._route = Route()
        frontier.eviction.owned = self._route.mine
        numbers = len(frontier.scorer.strategy.fields)
        self._forwarder = NodeForwarder(frontier.ingest, frontier.urls, self._route, numbers)
        frontier.ingest.forwarder = self._forwarder
        self.copy = WorkingCopy(frontier, self._changes, self.turns.release, CRASH_WAIT * ttl)
        self.partitions = Partitions(self.copy, self._route, frontier.clock, again=again)
        self.epoch = 0
        self.safe_until = 0.0
        self.view = NOTHING
        self.settled = False
        self._last = self._number = 0
        self._born = b""
        self._flight: bytes | None = None
        self._read: defaultdict[int, int] = defaultdict(int)
        self._dead: list[int] = []
        self._leaving = False
        self._started = 0
        self._first = True

    # -- queries -----------------------------------------------------------------------------------

    def may_serve(self) -> bool:
        """Return whether the buckets and turns of this node certainly belong to it now."""
        sure = self.epoch > 0 and time.monotonic() < self.safe_until
        return sure and self.turns.may_serve()

    def is_only_node(self) -> bool:
        """Return whether this node has the whole crawl, without other nodes or unread messages."""
        return self._has_all() and not self.view.unread

    def receiving(self) -> bool:
        """Return whether this node has all buckets, but unread messages remain."""
        return self._has_all() and bool(self.view.unread)

    def _has_all(self) -> bool:
        return self._route.whole and self.view.nodes == (self.epoch,)

    def idle(self) -> bool:
        """Return whether this node has nothing to fetch, send or load."""
        return not (
            any(self._queues.sizes()) or self._leases.by_key or not self.partitions.idle()
            or self._read or self._started or self._flight is not None
            or any(self._route.outbox.values())
        )  # fmt: skip

    # -- conversations -----------------------------------------------------------------------------

    def join(self) -> Conversation[None]:
        """Register this node.

        Raises:
            StateVersionError: If the crawl in Redis has another format or strategy.
            StorageError: If Redis has lost the crawl of this node.
        """
        life = int(self.ttl * 1000)
        arguments = (self.identity, own_identity(), life, self._last, self._born)
        epoch, identity, *born = yield Call("join", self.base, arguments)
        if identity:
            raise identity_mismatch(self.base, identity.decode(), self.identity)
        if not epoch:
            raise StorageError(
                "{base}: Redis has lost the data of this crawl; set appendonly "
                "yes, restore the data of Redis, then start the nodes again",
                base=self.base.rstrip(":"),
            )
        self.epoch = self._last = int(epoch)
        (self._born,) = born
        self._number = 0
        self._first = True
        leases = self._leases
        leases.epoch = max(leases.epoch, self.epoch << EPOCH_BITS)
        self.safe_until = 0.0

    def converse(self, *, look: bool, patient: bool = True) -> Conversation[bool]:
        """Exchange a batch and turns at hosts; return whether anything was received."""
        came = yield from self.exchange(look=look, patient=patient)
        if not self.epoch:
            return came
        return (yield from self.turns.exchange(f"{self.base}{self.epoch}")) or came

    def exchange(self, *, look: bool, patient: bool = True) -> Conversation[bool]:
        """Send changes and receive messages; return whether anything was received.

        A batch that was not acknowledged is sent again unchanged, and is applied once.

        Args:
            look: Whether to request a view of the whole crawl.
            patient: Whether late nodes are kept; otherwise they are timed out.
        """
        if not self.epoch:
            yield from self.join()
        if self._flight is None:
            self._number += 1
            self._flight = self._batch(look=look)
        sent = time.monotonic()
        arguments = (
            self.epoch, self._number, int(self.ttl * 1000), int(look), int(not patient),
            self._flight, self._born,
        )  # fmt: skip
        reply = msgpack.unpackb((yield Call("exchange", self.base, arguments)), raw=True)
        self._flight = None
        if reply[0] == b"fenced":
            self._rejoin()
            return True
        self.safe_until = sent + self.ttl
        _, now, tally, progress, taken, mail, view = reply
        self._sync_clock(now, sent, time.monotonic())
        pages, worth, turn = progress
        self._counters.update(tally, int(pages or 0), float(worth or 0.0))
        if self._first:
            self._frontier.dispatch.turn = int(turn or 0)
        self.partitions.confirm_given()
        self.partitions.accept(taken)
        self._receive(mail)
        if view:
            self._apply_view(view_of(view))
        return bool(taken or mail)

    def starts(self, key: str, most: int) -> Conversation[list[bytes]]:
        """Return start URLs that operators added in Redis; the next batch acknowledges them."""
        texts: list[bytes] = yield Call("starts", self.base, (self.epoch, key, most))
        self._started = len(texts)
        return texts

    def leave(self) -> Conversation[bool]:
        """Return all buckets, with all changes, and leave the crawl."""
        if self._flight is not None:
            yield from self.exchange(look=False)
        self.partitions.give_all()
        self._leaving = True
        came = yield from self.exchange(look=False)
        yield from self.turns.leave()
        return came

    # -- sending -----------------------------------------------------------------------------------

    def _batch(self, *, look: bool) -> bytes:
        """Return the next batch, packed; its content then counts as sent."""
        parts: dict[str, Any] = dict(self._changes.take(self.epoch, self._route.mine))
        self._counters.put(parts)
        self.partitions.put(parts, look=look)
        leases = self._leases
        sizes = (*self._queues.sizes(), leases.pages(), len(leases.by_key))
        parts["sizes"] = " ".join(map(str, sizes))
        if not self._first:
            parts["turn"] = self._frontier.dispatch.turn
        once = {
            "mail": self._route.outbox, "read": self._read, "dead": self._dead,
            "started": self._started, "leave": self._leaving,
        }  # fmt: skip
        parts |= {name: value for name, value in once.items() if value}
        batch: bytes = msgpack.packb(parts, use_bin_type=False)
        self.settled = self.settled and not parts.keys() - {"turn", "sizes"}
        self._route.outbox.clear()
        self._read.clear()
        self._dead, self._started = [], 0
        return batch

    # -- receiving ---------------------------------------------------------------------------------

    def _receive(self, mail: list[tuple[int, list[bytes]]]) -> None:
        for bucket, messages in mail:
            if not self._route.mine[bucket]:
                continue
            for message in messages:
                try:
                    self._forwarder.receive(message)
                except ValueError as error:
                    self._queues.tally["letters-refused"] += 1
                    logger.warning(
                        "%s: message for bucket %d rejected: %s", self.base, bucket, error
                    )
            self._read[bucket] += len(messages)

    def _apply_view(self, view: View) -> None:
        """Store a view of the whole crawl, and decide which buckets to request and give away."""
        self.view = view
        self.settled = self.idle()
        self._dead = [n for n, name in view.names.items() if n != self.epoch and is_dead(name)]
        if unregistered := set(view.claims.values()) - set(view.nodes):
            logger.warning(
                "%s: Redis has lost the registration of nodes, and maybe URLs of this crawl: set"
                " maxmemory-policy noeviction and appendonly yes", self.base.rstrip(":"),
            )  # fmt: skip
            self._dead += unregistered
        self.partitions.decide(view, self.epoch, self._dead, first=self._first)
        self._first = False

    def _rejoin(self) -> None:
        """Drop all state to join again, after the other nodes have timed out this one."""
        for key in list(self._leases.by_key):
            self._leases.drop(key)
        self.partitions.clear()
        self._route.outbox.clear()
        self._read.clear()
        self._counters.clear()
        self._started = 0
        self._queues.tally["fenced"] += 1
        self.epoch = 0


def crawl_identity(strategy: LinkStrategy, owner: str) -> str:
    """Return the identity of a crawl as JSON; it is equal on all nodes of the crawl."""
    identity = {
        "format": FORMAT, "strategy": strategy.name, "fields": list(strategy.fields),
        "owner": owner, "buckets": BUCKETS,
    }  # fmt: skip
    return json.dumps(identity, ensure_ascii=False)


def parse_identity(where: str, text: str) -> dict[str, Any]:
    """Parse the identity of a crawl in Redis and check its format.

    Args:
        where: Name of the crawl for the error text.
        text: Result of ``crawl_identity`` at the start of the crawl.

    Raises:
        StateVersionError: If it has another format.
    """
    found: dict[str, Any] = json.loads(text)
    if found.get("format") != FORMAT:
        raise StateVersionError(
            "{where}: another version of topiccrawl started this crawl (format "
            "{dotted}, this version needs {dotted2}): continue with that version, "
            "or move the crawl with its `topiccrawl frontier export` and "
            "`import` of this version, or start over with -a fresh=1",
            where=where,
            dotted=_dotted(found.get("format")),
            dotted2=_dotted(FORMAT),
        )
    return found


def identity_mismatch(where: str, text: str, wanted: str) -> StateVersionError:
    """Return the error for a crawl with a different identity.

    Raises:
        StateVersionError: If it has another format.
    """
    parse_identity(where, text)
    return StateVersionError(
        "{where}: Redis holds a crawl of {text}, this one needs "
        "{wanted}; start over with -a fresh=1, or use another database",
        where=where,
        text=text,
        wanted=wanted,
    )


def _dotted(version: object) -> str:
    return ".".join(map(str, version)) if isinstance(version, list) else str(version)
