"""Reason why a crawl waits, for the progress line, the page, the metrics and the log."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.messages import message

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from topiccrawl.frontier.view import Census

QUIET = 5.0
"""Seconds without a page from which a crawl counts as waiting."""


REASONS = {
    "": "crawls",
    "paused": message("paused by the operator"),
    "redis-away": message("Redis does not answer"),
    "store-away": message("the database does not answer; articles wait on disk"),
    "reading": message("fetched pages are being read"),
    "storing": message("articles are being stored"),
    "answers": message("servers take long to answer"),
    "delays": message("all hosts are waiting for their delay"),
    "failing": message("all hosts refuse or fail"),
    "robots": message("robots.txt files are fetched first"),
    "elsewhere": message("other nodes have the queued URLs"),
    "empty": message("nothing is queued"),
    "retries": message("what is queued is tried again later"),
    "watching": message("nothing is due"),
}
"""Text of each code, in English, as the log has it; the page has its own."""


class Waiting(NamedTuple):
    """Reason why a crawl waits.

    Attributes:
        reason: One of ``REASONS``; "" where it crawls.
        seconds: Since the last page.
        detail: Host, and seconds until it may be asked, where that is known.
    """

    reason: str
    seconds: float = 0.0
    detail: str = ""

    def text(self, say: Callable[[str], str] = str) -> str:
        """The reason in words; "" where the crawl is going on.

        Args:
            say: Translates them: the log's are English.

        >>> Waiting("delays", 31.4, "a.test in 12 s").text()
        'nothing for 31 s: all hosts are waiting for their delay (a.test in 12 s)'
        >>> Waiting("store-away", 0.2).text()
        'the database does not answer; articles wait on disk'
        """
        if not self.reason:
            return ""
        detail = f" ({self.detail})" if self.detail else ""
        quiet = say(message("nothing for {seconds} s: ")) if self.seconds >= QUIET else ""
        return f"{quiet.format(seconds=round(self.seconds))}{say(REASONS[self.reason])}{detail}"


class Circumstances(NamedTuple):
    """Facts that the reason is derived from.

    Attributes:
        quiet: Seconds since the last page.
        paused: The operator paused the crawl.
        redis_away: The server of the frontier does not answer.
        store_away: The database of the articles does not answer.
        queues: Sizes of the frontier's queues, over all nodes.
        own: URLs queued on this node.
        open: Leases out on this node.
        reading: Fetched pages that readers have not answered yet.
        census: State of the hosts, or None where the frontier has none.
        watching: What a watch waits for (``next at ...``); "" where nothing is watched.
    """

    quiet: float
    paused: bool = False
    redis_away: bool = False
    store_away: bool = False
    queues: Mapping[str, int] = {}
    own: int = 0
    open: int = 0
    reading: int = 0
    census: Census | None = None
    watching: str = ""


def waiting(now: Circumstances) -> Waiting:
    """Return why a crawl waits; a pause or an outage at once, all else after ``QUIET`` seconds.

    >>> waiting(Circumstances(1.0, queues={"prior": 3}, own=3)).reason
    ''
    >>> waiting(Circumstances(60.0)).reason
    'empty'
    """
    for reason in ("paused", "redis_away", "store_away"):
        if getattr(now, reason):
            return Waiting(reason.replace("_", "-"), now.quiet)
    if now.quiet < QUIET:
        return Waiting("")
    states = now.census.states if now.census else {}
    if now.open:
        busy = states.get("fetching", 0)
        names = [host.name for host in now.census.hosts if host.active][:3] if now.census else []
        at = "answers" if busy else "reading" if now.reading else "storing"
        return Waiting(at, now.quiet, ", ".join(names))
    if not now.own:
        if now.watching:
            return Waiting("watching", now.quiet, now.watching)
        others = any(now.queues.get(name, 0) for name in ("prior", "normal", "leased"))
        return Waiting("elsewhere" if others else "empty", now.quiet)
    return Waiting(_slowest(states), now.quiet, _soonest(now.census))


def _slowest(states: Mapping[str, int]) -> str:
    if states.get("waiting"):
        return "delays"
    if states.get("robots"):
        return "robots"
    return "failing" if states.get("failing") else "retries"


def _soonest(census: Census | None) -> str:
    if census is None or census.soonest is None:
        return ""
    name, seconds = census.soonest
    return f"{name} in {seconds:.0f} s"
