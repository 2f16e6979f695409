"""A node's part of the crawl: what it has, sends, hears; who has the rest. No network here.

    away ─take─► loading ─► served ─other's─► closing ─no leases─► leaving ─► away

A bucket's URLs are taken in here while it is served or closing; otherwise they are posted. The
node's registration has an epoch and an expiry; whoever is late is given up by the others, its
epoch is refused from then on, and its buckets are free.
"""

from __future__ import annotations

import time
from collections import defaultdict
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, NamedTuple

import msgpack

from topiccrawl.errors import StateError, StateVersionError
from topiccrawl.nodes.buckets import BUCKETS
from topiccrawl.nodes.counters import Counters
from topiccrawl.nodes.identity import is_dead, myself
from topiccrawl.nodes.plan import plan
from topiccrawl.nodes.record import collect
from topiccrawl.nodes.view import NOTHING, view_of
from topiccrawl.nodes.wire import Call

if TYPE_CHECKING:
    from collections.abc import Callable

    from topiccrawl.frontier.state import State
    from topiccrawl.nodes.copy import WorkingCopy
    from topiccrawl.nodes.intake import RoutedIntake
    from topiccrawl.nodes.record import RecordingStore
    from topiccrawl.nodes.view import View
    from topiccrawl.nodes.wire import Steps

PIECE = 500
"""Rows loaded at once: a few milliseconds of work."""
EPOCH_BITS = 40
"""Leases of one registration are numbered below its epoch."""


class Status(Enum):
    """What a bucket is to this node."""

    AWAY = auto()
    LOADING = auto()
    SERVED = auto()
    CLOSING = auto()
    LEAVING = auto()


class _Load(NamedTuple):
    bucket: int
    unclean: bool


class Share:
    """The node's side of every conversation.

    Args:
        base: What the names of the crawl's keys begin with.
        about: What the crawl is (JSON): nodes of another one are refused.
        ttl: Seconds without a word after which a node is given up.
        state: Open state of the working copy.
        store: Its store.
        intake: Its way in.
        copy: Moves buckets.
        clock: The frontier's.
        hear_time: Told Redis' time and the moment (``time.monotonic``) it was read at.

    Attributes:
        epoch: Of this registration; 0 while there is none.
        safe_until: Moment until which nobody can have given this node up.
        view: The whole crawl.
    """

    def __init__(  # noqa: PLR0913 - made in one place
        self, base: str, about: str, ttl: float, *, state: State, store: RecordingStore,
        intake: RoutedIntake, copy: WorkingCopy, clock: Callable[[], float],
        hear_time: Callable[[float, float], None],
    ) -> None:  # fmt: skip
        self.base, self.about, self.ttl = base, about, ttl
        self._state, self._store, self._intake, self._copy = state, store, intake, copy
        self._clock, self._hear_time = clock, hear_time
        self.epoch = 0
        self.safe_until = 0.0
        self.view = NOTHING
        self.settled = False
        self._number = 0
        self._flight: bytes | None = None
        self._status = [Status.AWAY] * BUCKETS
        self._take: list[int] = []
        self._loads: list[_Load] = []
        self._cursor = b"0"
        self._crashed: list[bytes] = []
        self._read: defaultdict[int, int] = defaultdict(int)
        self._void_marks: dict[int, list[bytes]] = {}
        self._counters = Counters(state)
        self._weights: dict[int, int] = {}
        self._dead: list[int] = []
        self._leaving = self._started = False
        self._first = True

    # -- what others may ask -----------------------------------------------------------------------

    def may_serve(self) -> bool:
        """Whether this node's buckets are surely its own at this moment."""
        return self.epoch > 0 and time.monotonic() < self.safe_until

    def loading(self) -> bool:
        """Whether buckets are taken that are not served yet."""
        return bool(self._loads)

    def alone(self) -> bool:
        """Whether there is nothing outside this node."""
        view = self.view
        return self._intake.route.whole and view.nodes == (self.epoch,) and not view.post

    def closing(self, bucket: int) -> bool:
        """Whether a bucket only waits for its leases to end."""
        return self._status[bucket] is Status.CLOSING

    def idle(self) -> bool:
        """Whether this node has nothing to do, send or load."""
        state = self._state
        return not (
            any(state.queue_sizes()) or state.leases.held or self._loads or self._take or self._read
            or self._started
            or self._flight is not None or any(self._intake.route.letters.values())
        )  # fmt: skip

    # -- conversations -----------------------------------------------------------------------------

    def join(self) -> Steps[None]:
        """Register.

        Raises:
            StateVersionError: The crawl there is of another format or strategy.
        """
        life = int(self.ttl * 1000)
        epoch, about = yield Call("join", self.base, (self.about, myself(), life))
        if not epoch:
            raise _other_crawl(self.base, about.decode(), self.about)
        self.epoch = int(epoch)
        self._number = 0
        self._first = True
        leases = self._state.leases
        leases.epoch = max(leases.epoch, self.epoch << EPOCH_BITS)
        self.safe_until = 0.0

    def exchange(self, *, look: bool, patient: bool = True) -> Steps[bool]:
        """Send what changed, take in what others posted; whether anything came.

        A batch that was not acknowledged is sent again as it was: it counts once. ``look`` asks
        for the whole crawl; unless ``patient``, nodes that are late are given up.
        """
        if not self.epoch:
            yield from self.join()
        if self._flight is None:
            self._number += 1
            self._flight = self._batch()
        sent = time.monotonic()
        arguments = (
            self.epoch, self._number, int(self.ttl * 1000), int(look), int(not patient),
            self._flight,
        )  # fmt: skip
        reply = msgpack.unpackb((yield Call("exchange", self.base, arguments)), raw=True)
        self._flight = None
        if reply[0] == b"fenced":
            self._start_over()
            return True
        self.safe_until = sent + self.ttl
        _, now, tally, progress, taken, mail, view = reply
        self._hear_time(now, (sent + time.monotonic()) / 2)
        pages, worth, turn = progress
        self._counters.hear(tally, int(pages or 0), float(worth or 0.0))
        if self._first:
            self._state.turn = int(turn or 0)
        self._left()
        self._taken(taken)
        self._hear_mail(mail)
        if view:
            self._see(view_of(view))
        return bool(taken or mail)

    def load(self) -> Steps[bool]:
        """Load a piece of a bucket that was taken; whether one is served now that was not."""
        if not self._loads:
            return False
        bucket, unclean = self._loads[0]
        reply = yield Call("load", self.base, (bucket, self._cursor, PIECE))
        self._cursor, rows, links, first = reply
        if first:
            hosts, stats, robots, marks = first
            self._crashed = marks[::2]
            self._copy.take_hosts(hosts, stats, robots, self._clock() if unclean else None)
        self._copy.take_rows(rows, links)
        if self._cursor == b"0":
            self._loads.pop(0)
            self._serve(bucket)
            self._copy.count_crashes(self._crashed)
            if self._crashed:
                self._void_marks[bucket] = self._crashed
            self._crashed = []
            return True
        return False

    def starts(self, key: str, most: int) -> Steps[list[bytes]]:
        """Start URLs from where operators put them; the next batch says that they were taken in."""
        texts: list[bytes] = yield Call("starts", self.base, (self.epoch, key, most))
        self._started = bool(texts)
        return texts

    def leave(self) -> Steps[bool]:
        """Give all buckets back, with all that changed, and be gone."""
        if self._flight is not None:
            yield from self.exchange(look=False)
        for bucket, status in enumerate(self._status):
            if status in {Status.SERVED, Status.CLOSING}:
                self._status[bucket] = Status.CLOSING
        self._leaving = True
        return (yield from self.exchange(look=False))

    # -- out ---------------------------------------------------------------------------------------

    def _batch(self) -> bytes:
        """What is to be sent, packed; what it says counts as sent."""
        ours = {Status.SERVED, Status.CLOSING}
        parts: dict[str, Any] = dict(
            collect(self._store, self._state.places, self.epoch, lambda b: self._status[b] in ours)
        )
        if self._void_marks:
            parts["gone_marks"] = {
                b: k for b, k in self._void_marks.items() if self._status[b] in ours
            }
            self._void_marks = {}
        self._put_letters(parts)
        self._put_counts(parts)
        self._put_buckets(parts)
        self.settled = self.settled and not parts.keys() - {"turn", "sizes"}
        return msgpack.packb(parts, use_bin_type=False)  # type: ignore[no-any-return]

    def _put_letters(self, parts: dict[str, Any]) -> None:
        route = self._intake.route
        if route.letters:
            parts["mail"] = dict(route.letters)
            route.letters.clear()
        if self._read:
            parts["read"] = dict(self._read)
            self._read.clear()

    def _put_counts(self, parts: dict[str, Any]) -> None:
        state = self._state
        self._counters.put(parts)
        sizes = (*state.queue_sizes(), state.leases.pages(), len(state.leases.held))
        parts["sizes"] = " ".join(map(str, sizes))
        if not self._first:
            parts["turn"] = state.turn
        hosts = self._copy.hosts_by_bucket()
        ours = {b: n for b, n in hosts.items() if self._intake.route.mine[b]}
        if changed := {b: n for b, n in ours.items() if self._weights.get(b) != n}:
            parts["weights"] = changed
            self._weights.update(changed)

    def _put_buckets(self, parts: dict[str, Any]) -> None:
        """Buckets that are asked for, and those that can be given away."""
        closing = [b for b, status in enumerate(self._status) if status is Status.CLOSING]
        if closing:
            busy = set() if self._leaving else self._copy.busy()
            left = {b: "{} {}".format(*self._copy.queued(b)) for b in closing if b not in busy}
            for bucket in left:
                self._status[bucket] = Status.LEAVING
                self._intake.route.serve(bucket, mine=False)
            if left:
                parts["left"] = left
        if self._take:
            parts["take"], self._take = self._take, []
        if self._dead:
            parts["dead"], self._dead = self._dead, []
        if self._started:
            parts["started"], self._started = True, False
        if self._leaving:
            parts["leave"] = True

    # -- in ----------------------------------------------------------------------------------------

    def _left(self) -> None:
        for bucket, status in enumerate(self._status):
            if status is Status.LEAVING:
                self._status[bucket] = Status.AWAY
                self._weights.pop(bucket, None)
                if not self._leaving:
                    self._copy.evict(bucket)

    def _taken(self, taken: list[tuple[int, bytes, int]]) -> None:
        for bucket, left, size in taken:
            if self._status[bucket] is not Status.AWAY:
                continue
            if size:
                self._status[bucket] = Status.LOADING
                self._loads.append(_Load(bucket, left == b"-1"))
            else:
                self._serve(bucket)

    def _serve(self, bucket: int) -> None:
        self._status[bucket] = Status.SERVED
        self._intake.route.serve(bucket, mine=True)
        self._copy.open_hosts(bucket, self._clock())

    def _hear_mail(self, mail: list[tuple[int, list[bytes]]]) -> None:
        for bucket, letters in mail:
            if self._intake.route.mine[bucket]:
                for letter in letters:
                    self._intake.receive(letter)
                self._read[bucket] += len(letters)

    def _see(self, view: View) -> None:
        """Take in a look at the whole crawl, and decide what to ask for and what to give away."""
        self.view = view
        self.settled = self.idle()
        self._dead = [n for n, name in view.names.items() if n != self.epoch and is_dead(name)]
        if not self._leaving:
            self._decide()

    def _decide(self) -> None:
        view = self.view
        living = [node for node in view.nodes if node not in self._dead]
        for bucket, node in plan(living, view.claims, view.hosts).items():
            status = self._status[bucket]
            if node == self.epoch:
                if status is Status.CLOSING:
                    self._serve(bucket)
                elif status is Status.AWAY and bucket not in view.claims and self._wanted(bucket):
                    self._take.append(bucket)
            elif status is Status.SERVED:
                self._status[bucket] = Status.CLOSING
                self._copy.shut_hosts(bucket, self._clock())
        self._first = False

    def _wanted(self, bucket: int) -> bool:
        """Whether a free bucket has anything in it; a new node takes empty ones as well."""
        left = self.view.left.get(bucket, (0, 0))
        return self._first or left is None or any(left) or bucket in self.view.post

    def _start_over(self) -> None:
        """Others have given this node up: forget everything, and join anew."""
        for bucket, status in enumerate(self._status):
            if status is not Status.AWAY:
                self._copy.evict(bucket)
                self._intake.route.serve(bucket, mine=False)
        self._state.leases.held.clear()
        self._status = [Status.AWAY] * BUCKETS
        self._intake.route.letters.clear()
        self._take, self._loads, self._cursor = [], [], b"0"
        self._read.clear()
        self._void_marks.clear()
        self._weights.clear()
        self._counters.clear()
        self._state.tally["fenced"] += 1
        self.epoch = 0


def _other_crawl(base: str, found: str, wanted: str) -> StateError:
    return StateVersionError(
        f"{base}: Redis holds a crawl of {found}, this one needs {wanted}; begin anew with"
        " -a fresh=1, or use another database"
    )
