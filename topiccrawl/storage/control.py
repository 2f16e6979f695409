"""Orders to crawls, kept in a ledger."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from topiccrawl.errors import ConfigurationError, SettingError, StateError
from topiccrawl.links.urls import canonical
from topiccrawl.storage.ledger import FASTEST, SLOWEST, CrawlOrder, Ledger

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


KIND = "orders"
MOST = 10_000
"""Orders that may exist when one for another crawl is made."""
MOST_URLS = 500
"""Start URLs of a crawl that wait."""
_TASK = re.compile(r"task-\d+")


class Control:
    """Orders to crawls by name: a topic's slug, ``task-7``, or ``task-7.a.test`` for one site.

    Every process that works on the crawl follows an order within a second. An order stays until it
    is changed, also over restarts (a cancellation ends only the current run).

    Args:
        ledger: Ledger that stores the orders.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def order(self, name: str) -> CrawlOrder:
        """Return the order for a crawl; the defaults if there is none."""
        return order_of(await self._ledger.get(KIND, name))

    async def pause(self, name: str) -> CrawlOrder:
        """Stop fetching; requests in flight are finished."""
        return await self._change(name, paused=True)

    async def resume(self, name: str) -> CrawlOrder:
        """Resume fetching."""
        return await self._change(name, paused=False)

    async def cancel(self, name: str) -> CrawlOrder:
        """End the run, also a pause; fetched pages stay, and a new start continues."""
        return await self._change(name, paused=False, cancelled=await self._ledger.now())

    async def speed(self, name: str, factor: float) -> CrawlOrder:
        """Divide the delays by a factor.

        Raises:
            SettingError: If it is out of [``SLOWEST``, ``FASTEST``].
        """
        return await self._change(name, speed=speed_of(factor))

    async def add(self, name: str, urls: Sequence[str]) -> CrawlOrder:
        """Queue start URLs; a crawl that does not run takes them when it is started.

        Raises:
            ConfigurationError: One is no URL of the web.
            StateError: Too many would wait.
        """
        given = starts_in(name, urls)
        return await change(self._ledger, name, lambda order: _added(order, given))

    async def took(self, name: str, urls: Sequence[str]) -> None:
        """Record that a crawl took start URLs, unless the order was deleted meanwhile."""
        if await self._ledger.get(KIND, name) is None:
            return
        await change(
            self._ledger, name,
            lambda order: replace(order, urls=tuple(u for u in order.urls if u not in urls)),
        )  # fmt: skip

    async def assign(self, name: str, worker: str) -> CrawlOrder:
        """Choose the worker of a task's site; "" for any."""
        return await self._change(name, worker=worker)

    async def _change(self, name: str, **changes: Any) -> CrawlOrder:  # noqa: ANN401 - Order's fields
        return await change(self._ledger, name, lambda order: replace(order, **changes))


async def change(ledger: Ledger, name: str, how: Callable[[CrawlOrder], CrawlOrder]) -> CrawlOrder:
    """Change an order atomically, retrying on conflicts; return the new order.

    Raises:
        StateError: There are too many.
    """
    while True:
        before = await ledger.get(KIND, name)
        if before is None and len((await ledger.read(KIND))[KIND]) >= MOST:
            raise StateError("there are {most} orders: remove tasks that are over", most=MOST)
        order = how(order_of(before))
        text = json.dumps(asdict(order))
        if await ledger.swap({(KIND, name): before}, {(KIND, name): text}):
            return order


def order_of(text: str | None) -> CrawlOrder:
    """Return the order that a row holds.

    >>> order_of('{"paused": true}').paused, order_of(None).speed
    (True, 1.0)
    """
    order = CrawlOrder(**json.loads(text)) if text else CrawlOrder()
    return replace(order, urls=tuple(order.urls))


def starts_in(name: str, urls: Sequence[str]) -> list[str]:
    """Return start URLs for a crawl, canonical.

    Raises:
        ConfigurationError: One is no URL of the web, or the name is that of a whole task.

    >>> starts_in("nev", ["HTTP://A.test"])
    ['http://a.test/']
    """
    if _TASK.fullmatch(name):
        raise ConfigurationError(
            "a task has a crawl for each site: name one, as {name}.a.test", name=name
        )
    found = [canonical(url) for url in urls]
    for given, url in zip(urls, found, strict=True):
        if url is None:
            raise ConfigurationError(
                "{given!r:.200} is no URL: write https://host/path", given=given
            )
    return list(filter(None, found))


def _added(order: CrawlOrder, urls: Sequence[str]) -> CrawlOrder:
    waiting = tuple(dict.fromkeys((*order.urls, *urls)))
    if len(waiting) > MOST_URLS:
        raise StateError(
            "more than {most_urls} start URLs would wait: let the crawl take some",
            most_urls=MOST_URLS,
        )
    return replace(order, urls=waiting)


def speed_of(given: object) -> float:
    """Return a speed factor after checking its bounds.

    Raises:
        SettingError: If it is no number, or out of bounds.

    >>> speed_of("0.5")
    0.5
    """
    try:
        factor = float(given)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        factor = 0.0
    if not SLOWEST <= factor <= FASTEST:
        raise SettingError(
            "speed is {given!r:.50}: give a factor from {slowest:g} to {fastest:g}, 1 is normal",
            given=given,
            slowest=SLOWEST,
            fastest=FASTEST,
        )
    return factor
