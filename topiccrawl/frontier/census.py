"""WHO IS WAITED FOR: what the hosts of a frontier do at a moment, for the operator."""

from __future__ import annotations

from heapq import nlargest
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from topiccrawl.frontier.places import Host
    from topiccrawl.frontier.state import State

STATES = ("fetching", "ready", "waiting", "robots", "failing", "idle")
"""fetching: a request is out; ready: may be asked now; waiting: for its delay; robots: for its
robots.txt; failing: backs off after 429, 503 or an unreachable robots.txt; idle: nothing queued."""


class HostFigures(NamedTuple):
    """One host at a moment.

    Attributes:
        name: Its name.
        state: One of ``STATES``.
        queued: URLs that wait.
        active: Requests in flight.
        seconds: Until it may be asked again; 0 where it may be now.
        delay: Seconds between two requests, as known now.
        pages: Pages fetched.
        worth: Mean worth of its crawled pages, in [0, 1].
    """

    name: str
    state: str
    queued: int
    active: int
    seconds: float
    delay: float
    pages: int
    worth: float


class Census(NamedTuple):
    """All hosts of a frontier at a moment.

    Attributes:
        states: State to number of hosts.
        hosts: The hosts with most to do, most first.
        soonest: Host that may be asked next and the seconds until then, or None where no one waits
            for a time.
    """

    states: dict[str, int]
    hosts: tuple[HostFigures, ...]
    soonest: tuple[str, float] | None


@runtime_checkable
class Counted(Protocol):
    """A frontier that can tell what its hosts do."""

    def census(self, n: int) -> Census:
        """What all hosts do, and the n with most to do one by one."""
        ...


def census(state: State, now: float, n: int) -> Census:
    """See ``Counted.census``; costs a look at every host."""
    found = [_figures(state, host, now) for host in state.places.hosts]
    states = dict.fromkeys(STATES, 0)
    soonest: tuple[str, float] | None = None
    for one in found:
        states[one.state] += 1
        timed = one.seconds > 0 and one.queued
        if timed and (soonest is None or one.seconds < soonest[1]):
            soonest = one.name, one.seconds
    busiest = nlargest(n, found, key=lambda one: (one.active, one.queued, one.pages))
    return Census(states, tuple(busiest), soonest)


def _figures(state: State, host: Host, now: float) -> HostFigures:
    queued = sum(len(order) for unit in host.units for order in unit.orders if order)
    stats = host.stats
    worth = stats.relevance / stats.pages if stats.pages else 0.0
    wait = host.next_at - now
    if host.wake > now and queued:
        wait = max(wait, host.wake - now)
    return HostFigures(
        host.name, _state(host, queued, wait), queued, host.active, max(0.0, wait),
        state.clock.delay(host), host.pages, worth,
    )  # fmt: skip


def _state(host: Host, queued: int, wait: float) -> str:
    if host.active:
        return "fetching"
    if not queued:
        return "idle"
    if host.level and wait > 0:
        return "failing"
    origins = host.origins.values()
    if any(origin.waits for origin in origins) and host.best == [None, None]:
        return "failing" if any(origin.attempts for origin in origins) else "robots"
    return "waiting" if wait > 0 else "ready"
