"""Politeness: when a host may be asked again, and what robots.txt files allow."""

from __future__ import annotations

import time
from collections import OrderedDict
from struct import Struct
from typing import TYPE_CHECKING

from protego import Protego

from topiccrawl.frontier.store import origin_key

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from topiccrawl.frontier.contract import Download, Limits, Politeness
    from topiccrawl.frontier.hosts import Host, Origin
    from topiccrawl.frontier.store import Store

BACKOFF_STATUSES = frozenset({429, 503})
RETRY_AFTER_MAX = 3600.0
"""Longest Retry-After that is honoured, seconds: a host must not stop a crawl for good."""
OK = 200
NO_LIMIT = 1 << 62
MAX_BODY = 500_000
"""Bytes of a robots.txt that are read (RFC 9309 asks for at least 500 KiB)."""
PAUSE = 60.0
"""Seconds that an origin which did not answer is left alone, whoever asks for its pages."""
UNAVAILABLE = "robots-unavailable"
"""Reason where the server answers, but with a server error."""
CACHE_BYTES = 16_000_000
OWN_BYTES = 1000
STORED = Struct("<dB")


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
        turn: Whether a host may be asked by this process at all, where several share hosts.
    """

    def __init__(self, politeness: Politeness, limits: Limits, rng: random.Random) -> None:
        self._politeness = politeness
        self._rng = rng
        self._overrides = politeness.hosts or {}
        self._max_pages = limits.max_host_pages or NO_LIMIT
        self.speed = 1.0
        self.turn: Callable[[Host], bool] | None = None

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

        Full is, too, a host that is shut or another process's, or whose pages in flight use up its
        page budget.
        """
        if host.shut or (self.turn is not None and not self.turn(host)):
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


class Robots:
    """Rules of all origins; the parsed ones in a cache bounded by the size of their texts.

    Args:
        store: Where they are kept.
        politeness: User agent, time to live, longest crawl-delay.
    """

    def __init__(self, store: Store, politeness: Politeness) -> None:
        self._store = store
        self._politeness = politeness
        self._parsed: OrderedDict[str, tuple[Protego | None, int]] = OrderedDict()
        self._bytes = 0

    def known(self, origin: Origin, now: float) -> bool:
        """Whether what is known of the origin's robots.txt can still be believed."""
        if not origin.loaded:
            self._load(origin)
        latest = now + self._life(available=origin.available)
        origin.expires = min(origin.expires, latest)  # the clock may have been set back
        return now < origin.expires

    def allowed(self, origin: Origin, url: str) -> bool:
        """Whether a robots.txt that is known lets us fetch a URL."""
        rules = self._rules(origin)
        return rules is None or bool(rules.can_fetch(url, self._politeness.user_agent))

    def learn(self, origin: Origin, body: bytes | None, now: float) -> None:
        """Keep an answer: rules, or None where everything is allowed."""
        self._keep(origin, (body or b"")[:MAX_BODY], now, available=True)

    def put_back(self, origin: Origin, expires: float, body: bytes, *, available: bool) -> None:
        """Keep an answer that another frontier had."""
        learnt = expires - self._life(available=available)
        self._keep(origin, body[:MAX_BODY], learnt, available=available)

    def give_up(self, origin: Origin, cause: str, now: float) -> None:
        """Note that the robots.txt is not available, and why; the cause is kept as its text."""
        self._keep(origin, cause.encode(), now, available=False)

    def cause(self, origin: Origin) -> str:
        """Reason of URLs whose robots.txt is not available: the cause of its last failure."""
        return self._text(origin).decode() or UNAVAILABLE

    def retry(self, origin: Origin, now: float) -> None:
        """Ask again for a robots.txt that could not be had: somebody wants a page of it now."""
        left_alone = self._life(available=False) - PAUSE
        if self.known(origin, now) and not origin.available and origin.expires - now <= left_alone:
            self._keep(origin, b"", now - self._life(available=False), available=False)

    def _life(self, *, available: bool) -> float:
        """Seconds an answer, or that there was none, is believed."""
        politeness = self._politeness
        if available:
            return politeness.robots_ttl
        return min(politeness.robots_away, politeness.robots_ttl)

    def _keep(self, origin: Origin, body: bytes, now: float, *, available: bool) -> None:
        origin.expires = now + self._life(available=available)
        origin.available = available
        origin.loaded = True
        origin.attempts = 0
        value = STORED.pack(origin.expires, available) + body
        self._store.put_robots(origin_key(origin.name), value)
        self.forget(origin)
        self._slow(origin)

    def _load(self, origin: Origin) -> None:
        origin.loaded = True
        data = self._store.robots_of(origin.name)
        if data:
            expires, available = STORED.unpack_from(data)
            origin.expires, origin.available = expires, bool(available)
            self._slow(origin)

    def _slow(self, origin: Origin) -> None:
        rules = self._rules(origin)
        delay = rules.crawl_delay(self._politeness.user_agent) if rules is not None else None
        origin.crawl_delay = min(float(delay or 0.0), self._politeness.crawl_delay_max)
        host = origin.host
        host.crawl_delay = max(other.crawl_delay for other in host.origins.values())

    def _rules(self, origin: Origin) -> Protego | None:
        cached = self._parsed.get(origin.name)
        if cached is not None:
            self._parsed.move_to_end(origin.name)
            return cached[0]
        body = self._text(origin) if origin.available else b""
        rules = Protego.parse(body.decode("utf-8-sig", "replace")) if body.strip() else None
        self._parsed[origin.name] = (rules, len(body) + OWN_BYTES)
        self._bytes += len(body) + OWN_BYTES
        while self._bytes > CACHE_BYTES:
            _, (_, size) = self._parsed.popitem(last=False)
            self._bytes -= size
        return rules

    def _text(self, origin: Origin) -> bytes:
        return self._store.robots_of(origin.name)[STORED.size :]

    def delete(self, origin: Origin) -> None:
        """Forget what an origin's robots.txt says; nothing is reported."""
        self.forget(origin)
        self._store.txn.delete(origin_key(origin.name), db=self._store.robots)

    def forget(self, origin: Origin) -> None:
        """Parse an origin's robots.txt anew when it is needed next."""
        _, size = self._parsed.pop(origin.name, (None, 0))
        self._bytes -= size
