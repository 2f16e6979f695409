"""Politeness: delays of hosts, and rules of robots.txt files."""

from __future__ import annotations

import re
import time
from collections import OrderedDict
from email.utils import parsedate_to_datetime
from struct import Struct
from typing import TYPE_CHECKING

from protego import Protego

from topiccrawl.frontier.hosts import NEVER, Host, Origin
from topiccrawl.links.robots import bounded, memory_of, rules_for

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from topiccrawl.frontier.contract import Download, Limits, Politeness
    from topiccrawl.frontier.store import Store

_RETRY_AFTER_DIGITS = re.compile(r"\s*(\d{1,9})\s*$")
BACKOFF_STATUSES = frozenset({429, 503})
RETRY_AFTER_MAX = 3600.0
"""Longest Retry-After that is honoured, in seconds: no host may stop a crawl for good."""
OK = 200
NO_LIMIT = 1 << 62
MANY_LINKS, LINK_SECONDS = 1000, 0.0005
"""Links of a page beyond which each delays the next request to its host, and the delay in seconds.
A link takes about 0.08 ms of processor time, so such pages take a fifth of it."""
MIN_RETRY_SECONDS = 60.0
"""Seconds for which an origin that did not respond is not requested again, even by an operator."""
UNAVAILABLE = "robots-unavailable"
"""Reason if the server responds with a server error."""
CACHE_BYTES = 64_000_000
ROBOTS_HEAD = Struct("<d?")
NO_ROBOTS = ROBOTS_HEAD.pack(0.0, 1)
MAX_KEY = 500
"""Maximum bytes of a key; LMDB allows 511."""


def steady_clock(wall: Callable[[], float] = time.time) -> Callable[[], float]:
    """Return a clock of seconds since the epoch, read once and then counted without jumps.

    If the system time changes by hours during a crawl, hosts must neither wait for hours nor be
    requested too soon.

    >>> clock = steady_clock(wall=lambda: 1000.0)
    >>> 1000.0 <= clock() < 1001.0
    True
    """
    offset = wall() - time.monotonic()
    return lambda: time.monotonic() + offset


class HostClock:
    """Computation of hosts' delays; it changes hosts and never waits itself.

    Args:
        politeness: Rules for requests to hosts.
        limits: Page budget of a host.
        rng: Random generator of the jitter.

    Attributes:
        max_pages: Page budget of a host.
        speed: Divisor of delays; crawl-delays and back-off are not divided.
        may_request: Returns whether this process may request a host; None if no hosts are shared.
    """

    def __init__(self, politeness: Politeness, limits: Limits, rng: random.Random) -> None:
        self._politeness, self._rng = politeness, rng
        self._overrides = politeness.hosts or {}
        self.max_pages = limits.max_host_pages or NO_LIMIT
        self.speed = 1.0
        self.may_request: Callable[[Host], bool] | None = None

    def waits(self, host: Host) -> float:  # noqa: ARG002
        """Return seconds for which another crawl uses the host; if 0, a shared clock takes it."""
        return 0.0

    def base_delay(self, host: Host) -> float:
        """Return the configured delay of a host in seconds, before any response."""
        delay, _ = self._overrides.get(host.name, (None, None))
        return self._politeness.delay if delay is None else delay

    def delay(self, host: Host) -> float:
        """Return the current delay of a host in seconds, without jitter."""
        wait = self.base_delay(host)
        if self._politeness.adaptive:
            wait = max(wait, host.delay if host.delay >= 0.0 else self._politeness.start_delay)
        return max(wait / self.speed, host.crawl_delay)

    def is_full(self, host: Host) -> bool:
        """Check whether a request to the host must end before the next can start.

        A host is also full if it is closed, if another process has the right to it, or if its open
        leases would use up its page budget.
        """
        if host.closed or (self.may_request is not None and not self.may_request(host)):
            return True
        _, concurrency = self._overrides.get(host.name, (None, None))
        if host.active >= (concurrency or self._politeness.concurrency):
            return True
        return host.leased > 0 and host.pages + host.leased >= self.max_pages > host.pages

    def record_start(self, host: Host, now: float) -> None:
        """Count a request that starts now, and set the time of the next one."""
        host.active += 1
        delay = self.delay(host)
        jitter = self._politeness.jitter
        if jitter and delay:
            delay *= self._rng.uniform(1.0 - jitter, 1.0 + jitter)
            delay = max(delay, host.crawl_delay)
        host.next_at = max(host.next_at, now + delay)

    def record_send(self, host: Host, now: float) -> None:
        """Count the delay from now: a request is sent that was counted when it was leased."""
        host.send_at = now + self._min_delay(host)
        host.next_at = max(host.next_at, host.send_at)

    def _min_delay(self, host: Host) -> float:
        """Return the smallest delay in seconds that the jitter allows."""
        least = self.delay(host) * (1.0 - min(self._politeness.jitter, 1.0))
        return max(least, host.crawl_delay)

    def compensate_stall(self, host: Host, seconds: float, now: float) -> None:
        """Add a stall to the delay: a request in flight was possibly not sent before it."""
        host.next_at = max(host.next_at, min(host.next_at + seconds, now + self.delay(host)))

    def record_response(self, host: Host, download: Download, now: float) -> None:
        """Adapt to a response: time of sending, adaptive delay and back-off.

        A busy process may send a request long after its lease; the delay counts from the sending.
        """
        if download.latency is not None:
            host.next_at = max(host.next_at, now - download.latency + self._min_delay(host))
        self._adapt(host, download)
        if download.status in BACKOFF_STATUSES:
            host.level += 1
            self.back_off(host, min(host.level, 30), now, download.retry_after)
        elif download.status:
            host.level = 0

    def back_off(self, host: Host, attempts: int, now: float, after: float | None = None) -> None:
        """Postpone a host that refused ``attempts`` requests, by ``after`` seconds if given."""
        wait = self.retry_delay(host, attempts)
        if after is not None:
            wait = min(max(after, 0.0), RETRY_AFTER_MAX)
        host.next_at = max(host.next_at, now + wait)

    def postpone_for_links(self, host: Host, links: int, now: float) -> None:
        """Postpone a host whose page had very many links, which take this process's time."""
        wait = LINK_SECONDS * (links - MANY_LINKS)
        if wait > 0.0:
            host.next_at = max(host.next_at, now + wait)

    def retry_delay(self, host: Host, attempts: int) -> float:
        """Return seconds until a failed robots.txt is fetched again."""
        return min(self._politeness.max_delay, max(1.0, self.delay(host)) * 2.0**attempts)

    def _adapt(self, host: Host, download: Download) -> None:
        """Apply AutoThrottle's rule, half-way to latency / target; errors do not shorten it."""
        rules = self._politeness
        if not rules.adaptive or download.latency is None:
            return
        current = host.delay if host.delay >= 0.0 else max(rules.start_delay, self.base_delay(host))
        target = download.latency / rules.target_concurrency
        new = max(target, (current + target) / 2.0)
        new = min(max(self.base_delay(host), new), max(rules.max_delay, self.base_delay(host)))
        host.delay = current if download.status != OK and new <= current else new


class Robots:
    """Robots.txt rules of all origins; a cache bounded by text size holds the parsed ones.

    Args:
        store: Store of the robots.txt files.
        politeness: User agent, time to live, longest crawl-delay.
    """

    def __init__(self, store: Store, politeness: Politeness) -> None:
        self._store, self._politeness = store, politeness
        self._parsed: OrderedDict[str, tuple[Protego | None, int]] = OrderedDict()
        self._bytes = 0

    def is_current(self, origin: Origin, now: float) -> bool:
        """Check whether the stored state of the origin's robots.txt is still valid."""
        if origin.expires == NEVER:
            self._load(origin)
        latest = now + self._ttl(available=origin.available)
        origin.expires = min(origin.expires, latest)  # the clock may have been set back
        return now < origin.expires

    def allowed(self, origin: Origin, url: str) -> bool:
        """Check whether an available robots.txt allows a URL."""
        rules = self._rules(origin)
        return rules is None or bool(rules.can_fetch(url, self._politeness.user_agent))

    def refusal(self, origin: Origin, url: str) -> str:
        """Return the reason why a stored robots.txt forbids a URL, or "".

        If the robots.txt is not available, the reason is the cause of its last failure.
        """
        if not origin.available:
            return self._stored(origin)[2].decode() or UNAVAILABLE
        return "" if self.allowed(origin, url) else "robots"

    def store(self, origin: Origin, body: bytes, now: float, *, available: bool) -> None:
        """Store a response that was received now; see ``restore``."""
        self.restore(origin, body, now + self._ttl(available=available), available=available)

    def restore(self, origin: Origin, body: bytes, expires: float, *, available: bool) -> None:
        """Store a response, or the cause why there was none.

        Args:
            origin: Origin of the robots.txt.
            body: Rules; b"" if all is allowed. If it is not available, the cause.
            expires: Time until which it is valid.
            available: Whether it is available.
        """
        origin.attempts = 0
        value = ROBOTS_HEAD.pack(expires, available) + (bounded(body) if available else body)
        self._store.put("robots", origin_key(origin.name), value)
        self.forget(origin)
        self._load(origin)

    def expire_unavailable(self, origin: Origin, now: float) -> None:
        """Expire an unavailable robots.txt, so that it is fetched again, unless it is recent."""
        latest = now + self._ttl(available=False) - MIN_RETRY_SECONDS
        if self.is_current(origin, now) and not origin.available and origin.expires <= latest:
            self.restore(origin, b"", now, available=False)

    def _ttl(self, *, available: bool) -> float:
        """Return seconds for which a response, or the lack of one, is valid."""
        rules = self._politeness
        return rules.robots_ttl if available else min(rules.robots_away, rules.robots_ttl)

    def _load(self, origin: Origin) -> None:
        """Load the state of a robots.txt, and apply its crawl-delay to the host."""
        (origin.expires, origin.available, body), host = self._stored(origin), origin.host
        rules = self._rules(origin) if body and origin.available else None
        delay = rules.crawl_delay(self._politeness.user_agent) if rules else None
        origin.crawl_delay = min(float(delay or 0.0), self._politeness.crawl_delay_max)
        host.crawl_delay = max(one.crawl_delay for one in host.origins)

    def _rules(self, origin: Origin) -> Protego | None:
        if origin.name in self._parsed:
            self._parsed.move_to_end(origin.name)
            return self._parsed[origin.name][0]
        _, _, body = self._stored(origin)
        text = rules_for(self._politeness.user_agent, body.decode())
        rules = Protego.parse(text) if text.strip() else None
        cost = memory_of(body)
        self._parsed[origin.name] = (rules, cost)
        self._bytes += cost
        while self._bytes > CACHE_BYTES:
            _, (_, size) = self._parsed.popitem(last=False)
            self._bytes -= size
        return rules

    def _stored(self, origin: Origin) -> tuple[float, bool, bytes]:
        return stored_robots(self._store, origin.name)

    def delete(self, origin: Origin) -> None:
        """Delete an origin's robots.txt."""
        self.forget(origin)
        self._store.put("robots", origin_key(origin.name), None)

    def forget(self, origin: Origin) -> None:
        """Remove an origin's parsed robots.txt from the cache."""
        _, size = self._parsed.pop(origin.name, (None, 0))
        self._bytes -= size


def stored_robots(store: Store, origin: str) -> tuple[float, bool, bytes]:
    """Return expiry (0.0 if none is stored), availability and body of an origin's robots.txt."""
    data = store.get("robots", origin_key(origin)) or NO_ROBOTS
    return (*ROBOTS_HEAD.unpack_from(data), data[ROBOTS_HEAD.size :])


def origin_key(origin: str) -> bytes:
    """Return the key of an origin's robots.txt."""
    return origin.encode(errors="replace")[:MAX_KEY]


def retry_seconds(text: str, now: float) -> float | None:
    """Return the seconds of a Retry-After (delta or HTTP date), at least 0; None if invalid."""
    if match := _RETRY_AFTER_DIGITS.match(text):
        return float(match[1])
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except (TypeError, ValueError, OverflowError):
        return None
