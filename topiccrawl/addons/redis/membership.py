"""A node's membership in a crawl: registration, batches, replies, the other nodes. No network here.

The node's registration has an epoch and an expiry. A late node is timed out by the others: its
epoch is refused from then on, and its buckets are free.
"""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import msgpack

from topiccrawl.addons.redis.counters import Counters
from topiccrawl.addons.redis.identity import other_crawl
from topiccrawl.addons.redis.partitions import Partitions
from topiccrawl.addons.redis.transport import Call, Steps
from topiccrawl.addons.redis.view import NOTHING, View, view_of
from topiccrawl.errors import StorageError
from topiccrawl.storage.identity import is_dead, myself

if TYPE_CHECKING:
    from collections.abc import Callable

    from topiccrawl.addons.redis.changes import Changes
    from topiccrawl.addons.redis.host_turns import Turns
    from topiccrawl.addons.redis.messages import Outpost, Route
    from topiccrawl.addons.redis.working_copy import WorkingCopy
    from topiccrawl.frontier.embedded import EmbeddedFrontier

logger = logging.getLogger(__name__)

EPOCH_BITS = 40
"""Leases of one registration are numbered below its epoch."""


class Membership:
    """The node's side of every conversation.

    Args:
        base: Prefix of the crawl's keys.
        about: Identity of the crawl (JSON): nodes of another one are refused.
        ttl: Seconds of silence after which a node times out.
        frontier: The working copy.
        changes: Its feed.
        route: Buckets that are served here, and the outbox for the others.
        outpost: Takes in the messages of other nodes.
        copy: Moves buckets.
        turns: At hosts, over all crawls.
        again: Whether pages will be crawled again.
        hear_time: Called with Redis' time and the two moments (``time.monotonic``) around its
            reading.

    Attributes:
        epoch: Of this registration; 0 while there is none.
        safe_until: Moment (``time.monotonic``) until which no other node can time this one out.
        view: The whole crawl.
        partitions: The buckets it has.
        settled: Whether this node had nothing to do at the last view, and nothing since.
    """

    def __init__(  # noqa: PLR0913 - made in one place
        self, base: str, about: str, ttl: float, *, frontier: EmbeddedFrontier, changes: Changes,
        route: Route, outpost: Outpost, copy: WorkingCopy,
        hear_time: Callable[[float, float, float], None], turns: Turns, again: bool,
    ) -> None:  # fmt: skip
        self.base, self.about, self.ttl = base, about, ttl
        self._frontier, self._changes, self._route = frontier, changes, route
        self._outpost, self._hear_time = outpost, hear_time
        self._queues, self._leases = frontier.queues, frontier.leases
        self._turns = turns
        self.epoch = 0
        self.safe_until = 0.0
        self.view = NOTHING
        self.settled = False
        self._last = self._number = 0
        self._born = b""
        self._flight: bytes | None = None
        self.partitions = Partitions(copy, route, frontier.clock, again=again)
        self._read: defaultdict[int, int] = defaultdict(int)
        self._counters = Counters(frontier.queues)
        self._dead: list[int] = []
        self._leaving = False
        self._started = 0
        self._first = True

    # -- queries -----------------------------------------------------------------------------------

    def may_serve(self) -> bool:
        """Return whether this node's buckets and turns are surely its own at this moment."""
        sure = self.epoch > 0 and time.monotonic() < self.safe_until
        return sure and self._turns.may_serve()

    def alone(self) -> bool:
        """Return whether this node has the whole crawl: no other node, no messages."""
        return self._has_all() and not self.view.post

    def reading(self) -> bool:
        """Return whether this node has all but messages, which come with the next exchanges."""
        return self._has_all() and bool(self.view.post)

    def _has_all(self) -> bool:
        return self._route.whole and self.view.nodes == (self.epoch,)

    def idle(self) -> bool:
        """Return whether this node has nothing to do, send or load."""
        return not (
            any(self._queues.sizes()) or self._leases.held or not self.partitions.idle()
            or self._read or self._started or self._flight is not None
            or any(self._route.letters.values())
        )  # fmt: skip

    # -- conversations -----------------------------------------------------------------------------

    def join(self) -> Steps[None]:
        """Register this node.

        Raises:
            StateVersionError: The crawl there is of another format or strategy.
            StorageError: Redis has forgotten the crawl that this node was on.
        """
        life = int(self.ttl * 1000)
        asked = (self.about, myself(), life, self._last, self._born)
        epoch, about, *born = yield Call("join", self.base, asked)
        if about:
            raise other_crawl(self.base, about.decode(), self.about)
        if not epoch:
            raise StorageError(
                "{base}: Redis has come back without this crawl; let it write to "
                "its disk (appendonly yes), put its data back, then start the "
                "nodes again",
                base=self.base,
            )
        self.epoch = self._last = int(epoch)
        (self._born,) = born
        self._number = 0
        self._first = True
        leases = self._leases
        leases.epoch = max(leases.epoch, self.epoch << EPOCH_BITS)
        self.safe_until = 0.0

    def converse(self, *, look: bool, patient: bool = True) -> Steps[bool]:
        """Exchange, and pass turns on; return whether anything came."""
        came = yield from self.exchange(look=look, patient=patient)
        if not self.epoch:
            return came
        return (yield from self._turns.talk(f"{self.base}{self.epoch}")) or came

    def exchange(self, *, look: bool, patient: bool = True) -> Steps[bool]:
        """Send changes and take in messages; return whether anything came.

        A batch that was not acknowledged is sent again unchanged: it counts once.

        Args:
            look: Whether to ask for a view of the whole crawl.
            patient: Whether late nodes are spared; otherwise they time out.
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
            self._start_over()
            return True
        self.safe_until = sent + self.ttl
        _, now, tally, progress, taken, mail, view = reply
        self._hear_time(now, sent, time.monotonic())
        pages, worth, turn = progress
        self._counters.hear(tally, int(pages or 0), float(worth or 0.0))
        if self._first:
            self._frontier.dispatch.turn = int(turn or 0)
        self.partitions.left()
        self.partitions.taken(taken)
        self._hear_mail(mail)
        if view:
            self._see(view_of(view))
        return bool(taken or mail)

    def starts(self, key: str, most: int) -> Steps[list[bytes]]:
        """Return start URLs that operators put into Redis; the next batch acknowledges them."""
        texts: list[bytes] = yield Call("starts", self.base, (self.epoch, key, most))
        self._started = len(texts)
        return texts

    def leave(self) -> Steps[bool]:
        """Give all buckets back, with all changes, and leave the crawl."""
        if self._flight is not None:
            yield from self.exchange(look=False)
        self.partitions.give_all()
        self._leaving = True
        came = yield from self.exchange(look=False)
        yield from self._turns.leave()
        return came

    # -- out ---------------------------------------------------------------------------------------

    def _batch(self, *, look: bool) -> bytes:
        """Return the next batch, packed; its content counts as sent."""
        parts: dict[str, Any] = dict(self._changes.take(self.epoch, self._route.mine))
        self._put_letters(parts)
        self._put_counts(parts)
        self.partitions.put(parts, look=look)
        if self._dead:
            parts["dead"], self._dead = self._dead, []
        if self._started:
            parts["started"], self._started = self._started, 0
        if self._leaving:
            parts["leave"] = True
        self.settled = self.settled and not parts.keys() - {"turn", "sizes"}
        return msgpack.packb(parts, use_bin_type=False)  # type: ignore[no-any-return]

    def _put_letters(self, parts: dict[str, Any]) -> None:
        route = self._route
        if route.letters:
            parts["mail"] = dict(route.letters)
            route.letters.clear()
        if self._read:
            parts["read"] = dict(self._read)
            self._read.clear()

    def _put_counts(self, parts: dict[str, Any]) -> None:
        self._counters.put(parts)
        leases = self._leases
        sizes = (*self._queues.sizes(), len(leases.pages()), len(leases.held))
        parts["sizes"] = " ".join(map(str, sizes))
        if not self._first:
            parts["turn"] = self._frontier.dispatch.turn

    # -- in ----------------------------------------------------------------------------------------

    def _hear_mail(self, mail: list[tuple[int, list[bytes]]]) -> None:
        for bucket, letters in mail:
            if self._route.mine[bucket]:
                for letter in letters:
                    self._hear(bucket, letter)
                self._read[bucket] += len(letters)

    def _hear(self, bucket: int, letter: bytes) -> None:
        try:
            self._outpost.receive(letter)
        except ValueError as error:
            self._queues.tally["letters-refused"] += 1
            logger.warning("%s: a message for bucket %d is refused: %s", self.base, bucket, error)

    def _see(self, view: View) -> None:
        """Take in a view of the whole crawl, and decide which buckets to ask for and give away."""
        self.view = view
        self.settled = self.idle()
        self._dead = [n for n, name in view.names.items() if n != self.epoch and is_dead(name)]
        self.partitions.decide(view, self.epoch, self._dead, first=self._first)
        self._first = False

    def _start_over(self) -> None:
        """Forget everything to join again: the others have timed this node out."""
        self.partitions.clear()
        self._leases.evict(list(self._leases.held))
        self._route.letters.clear()
        self._read.clear()
        self._counters.clear()
        self._started = 0
        self._queues.tally["fenced"] += 1
        self.epoch = 0
