"""One crawler at a time on a host, over all crawls and nodes of one Redis, and one clock for it.

Before a node requests anything from a host (pages, robots.txt, redirects), it takes the host's
*turn* from a register that all crawls on the server share. Other nodes that want the host queue for
it; after ``SLICE`` seconds the holder starts nothing new there, and when its last request has ended
it passes the turn on, with the time of the next allowed request. First come, first served: no node
starves. No call is needed: crawls (topics, tasks, spiders) that name the same ``REDIS_URL`` take
turns. A crawl that is alone at a host keeps its turn.

A node that is killed loses its turns with its registration (at once if another node of the same
machine wants them). One that is stopped serves nothing once its time is over, and its next reply
says that it was late. ``lua/turns.lua`` is the register. Its keys share one hash tag, another than
the crawls': on a Redis Cluster it may be on another server.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

import msgpack

from topiccrawl.addons.redis.transport import Call, Steps
from topiccrawl.storage.identity import is_dead, myself

if TYPE_CHECKING:
    from collections.abc import Callable

    from topiccrawl.frontier.hosts import Host
    from topiccrawl.frontier.politeness import HostClock
    from topiccrawl.frontier.ready import Ready

REGISTER = "{topiccrawl}:"
"""Prefix of the register's keys."""
SLICE = 3.0
"""Seconds that a holder keeps a turn which others want; it may make at least one request."""
GRACE = 0.5
"""Seconds that it keeps an unused turn: a request may be on its way to take it."""
WORD = 0.5
"""Seconds between two messages to the register when there is nothing to send, at most."""
AGAIN = 1.0
"""Seconds after which queued nodes ask again: the holder may be dead."""
MOST = 1000
"""Turns asked for, and given back, in one message: some milliseconds of Redis' time."""


class Turn(NamedTuple):
    """A turn that is held.

    Attributes:
        host: Host of the turn.
        since: When it was taken.
        next_at: Earliest next request to the host at that time; a request changes it.
    """

    host: Host
    since: float
    next_at: float


class Turns:
    """A node's side of the register.

    Args:
        register: Prefix of the register's keys.
        ttl: Seconds of silence after which others may take the turns.
        host_clock: Knows the delays of hosts.
        ready: Reschedules hosts whose turn came or went.
        clock: Seconds since the epoch.

    Attributes:
        held: Turns by host.
        wanted: Hosts whose turn may be needed.
        safe_until: Moment (``time.monotonic``) until which no node can have taken a turn from us.
    """

    def __init__(
        self, register: str, ttl: float, host_clock: HostClock, ready: Ready,
        clock: Callable[[], float],
    ) -> None:  # fmt: skip
        self.held: dict[str, Turn] = {}
        self.wanted: dict[Host, None] = {}
        self.safe_until = 0.0
        self._register, self._ttl, self._clock = register, ttl, clock
        self._hosts, self._ready = host_clock, ready
        self._needed: set[str] = set()
        self._line: dict[str, Host] = {}
        self._closing: dict[str, Host] = {}
        self._given: dict[str, float] = {}
        self._called: set[str] = set()
        self._dead: list[str] = []
        self._next_word = self._next_again = 0.0
        self._number = 0
        self._name = ""

    def ours(self, host: Host) -> bool:
        """Return whether a host's turn is held; if not, mark the host as wanted."""
        if host.name in self.held:
            return True
        self.wanted[host] = None
        return False

    # -- queries -----------------------------------------------------------------------------------

    def may_serve(self) -> bool:
        """Return whether the turns held are surely ours at this moment."""
        return time.monotonic() < self.safe_until

    def wants(self) -> bool:
        """Return whether there are wanted hosts that were not asked for yet."""
        return any(self._worth(host) for host in self.wanted)

    def need(self, host: Host) -> None:
        """Ask for a host on behalf of a request from elsewhere; it may have no URLs here."""
        if host.name not in self.held:
            self._needed.add(host.name)
            self.wanted[host] = None

    def hurry(self) -> None:
        """Send the next message at once, with everything that could wait."""
        self._next_word = self._next_again = 0.0

    def let_go(self, host: Host) -> None:
        """Release a host: its turn, or its place in the queue."""
        name = host.name
        self.wanted.pop(host, None)
        self._needed.discard(name)
        ours = self.held.pop(name, None) or self._closing.pop(name, None)
        if ours or self._line.pop(name, None):
            late = self._clock() + self._hosts.delay(host) if host.active else 0.0
            self._given[name] = max(host.next_at, late)

    # -- conversations -----------------------------------------------------------------------------

    def talk(self, name: str) -> Steps[bool]:
        """Give back and ask for turns; return whether one came. The first ``name`` is kept."""
        self._name = self._name or name
        now = self._clock()
        self._pass_on(now)
        given = dict(list(self._given.items())[:MOST])
        asked = self._asks()
        if not (given or asked or self._dead) and time.monotonic() < self._next_word:
            return False
        sent = time.monotonic()
        reply = yield self._word(now, given, asked)
        state, granted, called, holders = msgpack.unpackb(reply, raw=True)
        self.safe_until = sent + self._ttl
        self._next_word = time.monotonic() + min(WORD, self._ttl / 5)
        for host in given:
            self._given.pop(host, None)
        if state == b"late":
            self._lose_all()
        self._line.update(asked)
        self._hear(granted, self._clock())
        self._called = {host.decode(errors="replace") for host in called}
        self._bury(holders)
        return bool(granted)

    def leave(self) -> Steps[None]:
        """Give all turns back and leave the register."""
        for host in [*(turn.host for turn in self.held.values()), *self._closing.values()]:
            self.let_go(host)
        for host in list(self._line.values()):
            self.let_go(host)
        while self._name and self._given:
            given = dict(list(self._given.items())[:MOST])
            yield self._word(self._clock(), given, {})
            for name in given:
                del self._given[name]
        if self._name:
            yield self._word(self._clock(), {}, {}, leave=True)
        self.safe_until = 0.0

    def _word(
        self, now: float, given: dict[str, float], asked: dict[str, Host], *, leave: bool = False
    ) -> Call:
        flat = [part for name, at in given.items() for part in (name, at)]
        asks = [part for name, host in asked.items() for part in (name, self._hosts.delay(host))]
        batch = {"give": flat, "ask": asks, "dead": self._dead, "leave": leave}
        packed = msgpack.packb(batch, use_bin_type=False, unicode_errors="replace")
        self._dead = []
        self._number += 1
        life = int(self._ttl * 1000)
        values = (self._name, life, repr(now), myself(), self._number, packed)
        return Call("turns", self._register, values)

    # -- out ---------------------------------------------------------------------------------------

    def _asks(self) -> dict[str, Host]:
        """Return the hosts to ask for: new ones, and from time to time the queued ones."""
        asked: dict[str, Host] = {}
        for host in list(self.wanted):
            if len(asked) >= MOST:
                return asked
            if host.name in self._closing:
                continue  # first given, then asked for again
            del self.wanted[host]
            if self._worth(host):
                asked[host.name] = host
        if time.monotonic() >= self._next_again:
            self._next_again = time.monotonic() + AGAIN
            for name, host in list(self._line.items())[: MOST - len(asked)]:
                asked[name] = self._line[name] = self._line.pop(name, host)  # to the end
        return asked

    def _worth(self, host: Host) -> bool:
        name = host.name
        if name in self.held or name in self._line or host.shut:
            return False
        return not host.is_empty or name in self._needed

    def _pass_on(self, now: float) -> None:
        """Close turns that others have waited for long enough; give back those without requests."""
        for name in self._called:
            turn = self.held.get(name)
            if turn is None:
                if name not in self._closing and name not in self._line:
                    self._given.setdefault(name, 0.0)  # the register still has it as ours
            elif self._is_over(turn, now):
                del self.held[name]
                self._closing[name] = turn.host
                self._ready.settle(turn.host, now)
        for name, host in list(self._closing.items()):
            if not host.active:
                del self._closing[name]
                self._given[name] = host.next_at

    def _is_over(self, turn: Turn, now: float) -> bool:
        host = turn.host
        lasted = now - turn.since
        if host.is_empty and not host.active:
            return lasted >= GRACE
        used = host.next_at != turn.next_at or now - host.next_at >= SLICE
        return lasted >= SLICE and used

    # -- in ----------------------------------------------------------------------------------------

    def _hear(self, granted: list[Any], now: float) -> None:
        for raw, at in zip(granted[::2], granted[1::2], strict=True):
            name = raw.decode(errors="replace")
            host = self._line.pop(name, None)
            if host is None:
                if name not in self.held and name not in self._closing:
                    self._given[name] = float(at)  # not wanted here any more
                continue
            self._needed.discard(name)
            host.next_at = max(host.next_at, float(at))
            self.held[name] = Turn(host, now, host.next_at)
            self._ready.changed(host, now)

    def _lose_all(self) -> None:
        """Drop all turns and ask for them again: others may have taken any of them."""
        lost = [turn.host for turn in self.held.values()]
        lost += self._closing.values()
        lost += self._line.values()
        self.held.clear()
        self._closing.clear()
        self._line.clear()
        now = self._clock()
        for host in lost:
            self._hosts.stood_still(host, self._ttl, now)
            self._ready.settle(host, now)

    def _bury(self, holders: list[bytes]) -> None:
        """Record holders that are dead: their turns are free."""
        pairs = zip(holders[::2], holders[1::2], strict=True)
        self._dead = [name.decode() for name, who in pairs if is_dead(who.decode() or "{}")]
        if self._dead:
            self._next_again = 0.0
