"""Reason why a crawl is waiting, for the progress line, the dashboard, the metrics and the log."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.messages import message

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from topiccrawl.frontier.view import Census

QUIET = 5.0
"""Seconds without a page after which a crawl counts as waiting."""


REASONS = {
    "": "crawls",
    "paused": message("paused by the operator"),
    "redis-away": message("Redis does not respond"),
    "store-away": message("the database does not respond; articles are spooled to disk"),
    "reading": message("fetched pages are being parsed"),
    "storing": message("articles are being stored"),
    "answers": message("servers are slow to respond"),
    "delays": message("all hosts are waiting for their delay"),
    "failing": message("all hosts refuse requests or fail"),
    "robots": message("robots.txt files are being fetched"),
    "elsewhere": message("all queued URLs belong to other nodes"),
    "empty": message("the queue is empty"),
    "retries": message("all queued URLs wait for a retry"),
    "watching": message("no page is due"),
}
"""English text of each reason for the log; the dashboard has its own texts."""


class WaitReason(NamedTuple):
    """Reason why a crawl is waiting.

    Attributes:
        reason: Key of ``REASONS``; "" while the crawl fetches.
        seconds: Seconds since the last page.
        detail: Host, and seconds until its next request, if known.
    """

    reason: str
    seconds: float = 0.0
    detail: str = ""

    def text(self, translate: Callable[[str], str] = str) -> str:
        """Describe the reason; "" while the crawl fetches.

        Args:
            translate: Translates messages; by default they are English, as in the log.

        >>> WaitReason("delays", 31.4, "a.test in 12 s").text()
        'no page for 31 s: all hosts are waiting for their delay (a.test in 12 s)'
        >>> WaitReason("store-away", 0.2).text()
        'the database does not respond; articles are spooled to disk'
        """
        if not self.reason:
            return ""
        detail = f" ({self.detail})" if self.detail else ""
        quiet = translate(message("no page for {seconds} s: ")) if self.seconds >= QUIET else ""
        reason = translate(REASONS[self.reason])
        return f"{quiet.format(seconds=round(self.seconds))}{reason}{detail}"


def wait_reason(  # noqa: PLR0913 - all but one have defaults
    quiet: float, *, paused: bool = False, redis_away: bool = False, store_away: bool = False,
    queues: Mapping[str, int] = {}, own: int = 0, leases: int = 0, reading: int = 0,
    census: Census | None = None, watching: str = "",
) -> WaitReason:  # fmt: skip
    """Return the reason why a crawl is waiting.

    A pause or an outage is returned at once, any other reason after ``QUIET`` seconds.

    Args:
        quiet: Seconds since the last page.
        paused: Whether the operator paused the crawl, or its worker may have lost it.
        redis_away: Whether the Redis server of the frontier does not respond.
        store_away: Whether the database of the articles does not respond.
        queues: Sizes of the queues, summed over all nodes.
        own: Number of URLs queued on this node.
        leases: Number of open leases of this node.
        reading: Number of fetched pages that readers are parsing.
        census: State of the hosts, or None if the frontier has none.
        watching: Next visit of a watch (``next at ...``); "" if no page is watched.

    >>> wait_reason(1.0, queues={"prior": 3}, own=3).reason
    ''
    >>> wait_reason(60.0).reason
    'empty'
    """
    for reason, holds in ("redis-away", redis_away), ("paused", paused), ("store-away", store_away):
        if holds:
            return WaitReason(reason, quiet)
    if quiet < QUIET:
        return WaitReason("")
    states = census.states if census else {}
    if leases:
        names = [host.name for host in census.hosts if host.active][:3] if census else []
        step = "answers" if states.get("fetching") else "reading" if reading else "storing"
        return WaitReason(step, quiet, ", ".join(names))
    if not own:
        if watching:
            return WaitReason("watching", quiet, watching)
        others = any(queues.get(name, 0) for name in ("prior", "normal", "leased"))
        return WaitReason("elsewhere" if others else "empty", quiet)
    return WaitReason(_host_reason(states), quiet, _next_host(census))


def _host_reason(states: Mapping[str, int]) -> str:
    if states.get("waiting"):
        return "delays"
    if states.get("robots"):
        return "robots"
    return "failing" if states.get("failing") else "retries"


def _next_host(census: Census | None) -> str:
    if census is None or census.soonest is None:
        return ""
    name, seconds = census.soonest
    return f"{name} in {seconds:.0f} s"
