"""MAY WE: what robots.txt files say, kept per origin, parsed on demand."""

from __future__ import annotations

from collections import OrderedDict
from struct import Struct
from typing import TYPE_CHECKING

from protego import Protego

if TYPE_CHECKING:
    from topiccrawl.frontier.contract import Politeness
    from topiccrawl.frontier.places import Origin
    from topiccrawl.frontier.store import Store

MAX_BODY = 500_000
"""Bytes of a robots.txt that are read (RFC 9309 asks for at least 500 KiB)."""
PAUSE = 60.0
"""Seconds that an origin which did not answer is left alone, whoever asks for its pages."""
UNAVAILABLE = "robots-unavailable"
"""Reason where the server answers, but with a server error."""
CACHE_BYTES = 16_000_000
OWN_BYTES = 1000
STORED = Struct("<dB")


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
        data = self._store.txn.get(origin_key(origin.name), None, self._store.robots)
        if data is not None:
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
        data = self._store.txn.get(origin_key(origin.name), b"", self._store.robots) or b""
        return data[STORED.size :]

    def forget(self, origin: Origin) -> None:
        """Parse an origin's robots.txt anew when it is needed next."""
        _, size = self._parsed.pop(origin.name, (None, 0))
        self._bytes -= size


def origin_key(origin: str) -> bytes:
    """Key of an origin's robots.txt."""
    name = origin.encode(errors="replace")
    return name if len(name) <= 500 else name[:500]  # noqa: PLR2004
