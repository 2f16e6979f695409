"""Turns at hosts: at most one node requests a host, over all crawls and nodes of one Redis.

Before a node requests anything from a host (pages, robots.txt, redirects), it takes the *turn* of
the host from a register that all crawls on the server share. Other nodes that want the host queue
for its turn. After ``SLICE`` seconds the holder starts no new request to the host. When its last
request has ended, it returns the turn with the time of the next allowed request. The queue is first
come, first served, so that no node starves. All crawls (topics, tasks, spiders) with the same
``REDIS_URL`` take turns. A turn that no other node wants is kept.

A killed node loses its turns with its registration, or at once if another node of the same machine
wants them. A stopped node serves no host after its time is over, and its next reply reports that it
was late. ``lua/turns.lua`` implements the register. Its keys share one hash tag, which differs from
those of the crawls: on a Redis Cluster it may be on another server.
"""

from __future__ import annotations

import time
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

import msgpack

from topiccrawl.addons.redis.transport import Call, Conversation
from topiccrawl.storage.identity import is_dead, own_identity

if TYPE_CHECKING:
    from collections.abc import Callable

    from topiccrawl.frontier.hosts import Host
    from topiccrawl.frontier.politeness import HostClock
    from topiccrawl.frontier.ready import ReadyHosts

REGISTER = "{topiccrawl}:"
"""Prefix of the keys of the register."""
SLICE = 3.0
"""Seconds that a holder keeps a turn that others want; it may make at least one request."""
GRACE = 0.5
"""Seconds that a holder keeps an unused turn, since a request may be about to use it."""
MESSAGE_INTERVAL = 0.5
"""Maximum seconds between two messages to the register."""
RETRY_INTERVAL = 1.0
"""Seconds after which queued nodes request a turn again, since the holder may be dead."""
MAX_TURNS = 1000
"""Maximum number of turns requested, and of turns returned, in one message, which takes Redis a few
milliseconds."""


class HostTurn(NamedTuple):
    """Turn that is held by this node.

    Attributes:
        host: Host of the turn.
        taken_at: Time at which it was taken.
        next_at: Earliest next request to the host at that time; a request changes it.
    """

    host: Host
    taken_at: float
    next_at: float


class HostTurns:
    """Turns of a node, and its messages to the register.

    Args:
        ttl: Seconds without a message after which others may take the turns.
        host_clock: Delays of hosts.
        ready: Reschedules hosts whose turn was taken or lost.
        clock: Clock, seconds since the epoch.

    Attributes:
        held: Turns by host.
        wanted: Hosts whose turn may be needed.
        safe_until: Time (``time.monotonic``) until which no other node can have taken our turns.
    """

    def __init__(
        self, ttl: float, host_clock: HostClock, ready: ReadyHosts, clock: Callable[[], float]
    ) -> None:
        self.held: dict[str, HostTurn] = {}
        self.wanted: dict[Host, None] = {}
        self.safe_until = 0.0
        self._ttl, self._clock = ttl, clock
        self._hosts, self._ready = host_clock, ready
        self._needed: set[str] = set()
        self._queued: dict[str, Host] = {}
        self._closing: dict[str, Host] = {}
        self._returned: dict[str, float] = {}
        self._contended: set[str] = set()
        self._dead: list[str] = []
        self._next_message = self._next_retry = 0.0
        self._number = 0
        self._name = ""

    def ours(self, host: Host) -> bool:
        """Return whether the turn of a host is held; if not, mark the host as wanted."""
        if host.name in self.held:
            return True
        self.wanted[host] = None
        return False

    # -- queries -----------------------------------------------------------------------------------

    def may_serve(self) -> bool:
        """Return whether the held turns certainly belong to this node now."""
        return time.monotonic() < self.safe_until

    def wants(self) -> bool:
        """Return whether there are wanted hosts that were not requested yet."""
        return any(self._should_request(host) for host in self.wanted)

    def need(self, host: Host) -> None:
        """Request the turn of a host for a request without a lease; the host may have no URLs."""
        if host.name not in self.held:
            self._needed.add(host.name)
            self.wanted[host] = None

    def release(self, host: Host) -> None:
        """Release the turn of a host, or the place in its queue."""
        name = host.name
        self.wanted.pop(host, None)
        self._needed.discard(name)
        ours = self.held.pop(name, None) or self._closing.pop(name, None)
        if ours or self._queued.pop(name, None):
            late = self._clock() + self._hosts.delay(host) if host.active else 0.0
            self._returned[name] = max(host.next_at, late)

    # -- conversations -----------------------------------------------------------------------------

    def exchange(self, name: str) -> Conversation[bool]:
        """Return and request turns; return whether one was granted. The first ``name`` is kept."""
        self._name = self._name or name
        now = self._clock()
        self._return_contended(now)
        returned = dict(islice(self._returned.items(), MAX_TURNS))
        requested = self._requests()
        if not (returned or requested or self._dead) and time.monotonic() < self._next_message:
            return False
        sent = time.monotonic()
        reply = yield self._message(now, returned, requested)
        state, granted, contended, holders = msgpack.unpackb(reply, raw=True)
        self.safe_until = sent + self._ttl
        self._next_message = time.monotonic() + min(MESSAGE_INTERVAL, self._ttl / 5)
        for host in returned:
            self._returned.pop(host, None)
        if state == b"late":
            self._lose_all()
        self._queued.update(requested)
        self._take(granted, self._clock())
        self._contended = {host.decode(errors="replace") for host in contended}
        self._record_dead(holders)
        return bool(granted)

    def leave(self) -> Conversation[None]:
        """Return all turns and leave the register."""
        for host in self._hosts_of_turns():
            self.release(host)
        while self._name and self._returned:
            returned = dict(islice(self._returned.items(), MAX_TURNS))
            yield self._message(self._clock(), returned, {})
            for name in returned:
                del self._returned[name]
        if self._name:
            yield self._message(self._clock(), {}, {}, leave=True)
        self.safe_until = 0.0

    def _message(
        self, now: float, given: dict[str, float], wanted: dict[str, Host], *, leave: bool = False
    ) -> Call:
        asks = {name: self._hosts.delay(host) for name, host in wanted.items()}
        batch = {
            "give": list(chain.from_iterable(given.items())),
            "ask": list(chain.from_iterable(asks.items())),
            "dead": self._dead, "leave": leave,
        }  # fmt: skip
        packed = msgpack.packb(batch, use_bin_type=False, unicode_errors="replace")
        self._dead = []
        self._number += 1
        life = int(self._ttl * 1000)
        values = (self._name, life, repr(now), own_identity(), self._number, packed)
        return Call("turns", REGISTER, values)

    # -- sending -----------------------------------------------------------------------------------

    def _requests(self) -> dict[str, Host]:
        """Return the hosts to request: new ones, and every ``RETRY_INTERVAL`` the queued ones."""
        requested: dict[str, Host] = {}
        for host in [one for one in self.wanted if one.name not in self._closing]:
            if len(requested) >= MAX_TURNS:
                return requested
            del self.wanted[host]
            if self._should_request(host):
                requested[host.name] = host
        if time.monotonic() >= self._next_retry:
            self._next_retry = time.monotonic() + RETRY_INTERVAL
            for name, host in list(islice(self._queued.items(), MAX_TURNS - len(requested))):
                requested[name] = self._queued[name] = self._queued.pop(name, host)  # to the end
        return requested

    def _should_request(self, host: Host) -> bool:
        name = host.name
        if name in self.held or name in self._queued or host.closed:
            return False
        return not host.is_empty or name in self._needed

    def _return_contended(self, now: float) -> None:
        """Close turns that others have waited for long enough; return those without requests."""
        for name in self._contended:
            turn = self.held.get(name)
            if turn is None:
                if name not in self._closing and name not in self._queued:
                    self._returned.setdefault(name, 0.0)  # the register still counts it as ours
            elif self._is_over(turn, now):
                del self.held[name]
                self._closing[name] = turn.host
                self._ready.reschedule(turn.host, now)
        for name, host in list(self._closing.items()):
            if not host.active:
                del self._closing[name]
                self._returned[name] = host.next_at

    def _is_over(self, turn: HostTurn, now: float) -> bool:
        host = turn.host
        lasted = now - turn.taken_at
        if host.is_empty and not host.active:
            return lasted >= GRACE
        used = host.next_at != turn.next_at or now - host.next_at >= SLICE
        return lasted >= SLICE and used

    # -- receiving ---------------------------------------------------------------------------------

    def _take(self, granted: list[Any], now: float) -> None:
        for raw, at in zip(granted[::2], granted[1::2], strict=True):
            name = raw.decode(errors="replace")
            host = self._queued.pop(name, None)
            if host is None:
                if name not in self.held and name not in self._closing:
                    self._returned[name] = float(at)  # no longer wanted
                continue
            self._needed.discard(name)
            host.next_at = max(host.next_at, float(at))
            self.held[name] = HostTurn(host, now, host.next_at)
            self._ready.host_changed(host, now)

    def _lose_all(self) -> None:
        """Drop all turns, since others may have taken them, and request them again."""
        lost = self._hosts_of_turns()
        self.held.clear()
        self._closing.clear()
        self._queued.clear()
        now = self._clock()
        for host in lost:
            self._hosts.compensate_stall(host, self._ttl, now)
            self._ready.reschedule(host, now)

    def _hosts_of_turns(self) -> list[Host]:
        """Return the hosts of all held, closing and requested turns."""
        held = (turn.host for turn in self.held.values())
        return [*held, *self._closing.values(), *self._queued.values()]

    def _record_dead(self, holders: list[bytes]) -> None:
        """Record dead holders, whose turns are free."""
        pairs = zip(holders[::2], holders[1::2], strict=True)
        self._dead = [name.decode() for name, who in pairs if is_dead(who.decode() or "{}")]
        if self._dead:
            self._next_retry = 0.0
