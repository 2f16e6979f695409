"""WHEN may a host be asked again: delay, adaptive delay, crawl-delay, back-off."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from topiccrawl.frontier.contract import Download, Limits, Politeness
    from topiccrawl.frontier.places import Host

BACKOFF_STATUSES = frozenset({429, 503})
RETRY_AFTER_MAX = 3600.0
"""Longest Retry-After that is honoured, seconds: a host must not stop a crawl for good."""
OK = 200
NO_LIMIT = 1 << 62


class SteadyClock:
    """Seconds since the epoch when it was made, and from then on without jumps.

    A machine's clock may be set by hours while a crawl runs: hosts would then be left alone for so
    long, or be asked too soon.

    >>> clock = SteadyClock(wall=lambda: 1000.0)
    >>> 1000.0 <= clock() < 1001.0
    True
    """

    def __init__(self, wall: Callable[[], float] = time.time) -> None:
        self._offset = wall() - time.monotonic()

    def __call__(self) -> float:
        """The time now."""
        return time.monotonic() + self._offset


class HostClock:
    """The politeness arithmetic; it changes hosts, and never waits itself.

    Args:
        politeness: How hosts are treated.
        limits: For the page budget of a host.
        rng: Source of the jitter.

    Attributes:
        speed: Delays are divided by this; a robots.txt's crawl-delay and back-off are not.
    """

    def __init__(self, politeness: Politeness, limits: Limits, rng: random.Random) -> None:
        self._politeness = politeness
        self._rng = rng
        self._overrides = politeness.hosts or {}
        self._max_pages = limits.max_host_pages or NO_LIMIT
        self.speed = 1.0

    def forget(self, host: Host) -> None:
        """Nothing more is asked of a host by this process; a clock of several crawls cares."""

    def waits(self, host: Host) -> float:  # noqa: ARG002
        """Seconds for which others have the host; a clock of several crawls takes it where 0."""
        return 0.0

    def base_delay(self, host: Host) -> float:
        """Seconds between two starts before anything is known of the host."""
        if self._overrides:
            delay, _ = self._overrides.get(host.name, (None, None))
            if delay is not None:
                return delay
        return self._politeness.delay

    def delay(self, host: Host) -> float:
        """Seconds between the starts of two requests, as known now, without jitter."""
        wait = self.base_delay(host)
        if self._politeness.adaptive:
            wait = max(wait, host.delay if host.delay >= 0.0 else self._politeness.start_delay)
        return max(wait / self.speed, host.crawl_delay)

    def full(self, host: Host) -> bool:
        """Whether the host must end a request before the next can start.

        Full is, too, a host that is shut, or whose pages in flight use up its page budget.
        """
        if host.shut:
            return True
        allowed = self._politeness.concurrency
        if self._overrides:
            _, concurrency = self._overrides.get(host.name, (None, None))
            allowed = concurrency or allowed
        if host.active >= allowed:
            return True
        leased = host.leased
        return leased > 0 and host.pages + leased >= self._max_pages > host.pages

    def spent(self, host: Host) -> bool:
        """Whether the host's page budget is used up."""
        return host.pages >= self._max_pages

    def start(self, host: Host, now: float) -> None:
        """Count a request that starts now."""
        host.active += 1
        delay = self.delay(host)
        jitter = self._politeness.jitter
        if jitter and delay:
            delay *= self._rng.uniform(1.0 - jitter, 1.0 + jitter)
            delay = max(delay, host.crawl_delay)
        host.next_at = max(host.next_at, now + delay)

    def left(self, host: Host, now: float) -> None:
        """Count from now: a request left that was counted when it was leased."""
        host.next_at = max(host.next_at, now + self._least(host))

    def _least(self, host: Host) -> float:
        """Seconds that must lie between two requests, whatever the jitter."""
        least = self.delay(host) * (1.0 - min(self._politeness.jitter, 1.0))
        return max(least, host.crawl_delay)

    def stood_still(self, host: Host, seconds: float, now: float) -> None:
        """Leave out a time in which a request in flight may not have left yet."""
        host.next_at = max(host.next_at, min(host.next_at + seconds, now + self.delay(host)))

    def end(self, host: Host, download: Download, now: float) -> None:
        """Learn from an answer: when it was really asked for, adaptive delay and back-off.

        A request may leave long after its lease where the process is busy; the delay counts from
        when it left.
        """
        if download.latency is not None:
            host.next_at = max(host.next_at, now - download.latency + self._least(host))
        self._adapt(host, download)
        if download.status in BACKOFF_STATUSES:
            host.next_at = max(host.next_at, now + self._pause(host, download.retry_after))
            host.level += 1
        elif download.status:
            host.level = 0

    def retry_pause(self, host: Host, attempts: int) -> float:
        """Seconds until a failed robots.txt is tried again."""
        return min(self._politeness.max_delay, max(1.0, self.delay(host)) * 2.0**attempts)

    def _pause(self, host: Host, retry_after: float | None) -> float:
        if retry_after is not None:
            return min(max(retry_after, 0.0), RETRY_AFTER_MAX)
        pause = max(1.0, self.delay(host)) * 2.0 ** min(host.level + 1, 30)
        return min(self._politeness.max_delay, pause)

    def _adapt(self, host: Host, download: Download) -> None:
        """AutoThrottle's rule: half-way to latency / target; bad answers never make it faster."""
        rules = self._politeness
        if not rules.adaptive or download.latency is None:
            return
        known = host.delay if host.delay >= 0.0 else max(rules.start_delay, self.base_delay(host))
        target = download.latency / rules.target_concurrency
        new = max(target, (known + target) / 2.0)
        new = min(max(self.base_delay(host), new), max(rules.max_delay, self.base_delay(host)))
        host.delay = known if download.status != OK and new <= known else new
