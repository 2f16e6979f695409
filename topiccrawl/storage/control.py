"""Operator orders for crawls, stored in a ledger."""

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
MAX_ORDERS = 10_000
"""Maximum number of stored orders."""
MAX_START_URLS = 500
"""Maximum number of start URLs that wait for one crawl."""
_TASK = re.compile(r"task-\d+")


class Control:
    """Operator orders by crawl: a topic's slug, ``task-7``, or ``task-7.a.test`` for one site.

    Every process of the crawl applies a new order within a second. An order is valid until it is
    changed, also after a restart. A cancellation ends only the current run.

    Args:
        ledger: Ledger that stores the orders.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def order(self, name: str) -> CrawlOrder:
        """Return the order of a crawl; the defaults if none is stored."""
        return parse_order(await self._ledger.get(KIND, name))

    async def pause(self, name: str) -> CrawlOrder:
        """Pause the crawl; requests in flight are finished."""
        return await self._change(name, paused=True)

    async def resume(self, name: str) -> CrawlOrder:
        """Resume the crawl."""
        return await self._change(name, paused=False)

    async def cancel(self, name: str) -> CrawlOrder:
        """Stop the run and clear a pause; the next run continues where it stopped."""
        return await self._change(name, paused=False, cancelled=await self._ledger.now())

    async def speed(self, name: str, factor: float) -> CrawlOrder:
        """Divide the download delays by a factor.

        Raises:
            SettingError: The factor is not in [``SLOWEST``, ``FASTEST``].
        """
        return await self._change(name, speed=parse_speed(factor))

    async def add(self, name: str, urls: Sequence[str]) -> CrawlOrder:
        """Add start URLs; a crawl that is not running queues them when it starts.

        Raises:
            ConfigurationError: A URL is invalid.
            StateError: Too many start URLs would be waiting.
        """
        given = parse_start_urls(name, urls)
        return await self._update(name, lambda order: _with_urls(order, given))

    async def discard_urls(self, name: str, urls: Sequence[str]) -> None:
        """Remove start URLs that the crawl has queued; do nothing if the order was deleted."""
        if await self._ledger.get(KIND, name) is not None:
            await self._update(
                name,
                lambda order: replace(order, urls=tuple(u for u in order.urls if u not in urls)),
            )

    async def assign(self, name: str, worker: str) -> CrawlOrder:
        """Assign a worker to a site of a task; "" allows any worker."""
        return await self._change(name, worker=worker)

    async def _change(self, name: str, **changes: Any) -> CrawlOrder:  # noqa: ANN401 - Order's fields
        return await self._update(name, lambda order: replace(order, **changes))

    async def _update(self, name: str, edit: Callable[[CrawlOrder], CrawlOrder]) -> CrawlOrder:
        """Change an order atomically, retrying on conflicts; return the new order.

        Raises:
            StateError: ``MAX_ORDERS`` is reached.
        """
        key, most = (KIND, name), MAX_ORDERS
        while True:
            before = await self._ledger.get(*key)
            if before is None and len((await self._ledger.read(KIND))[KIND]) >= most:
                raise StateError("{most} orders exist already: remove finished tasks", most=most)
            order = edit(parse_order(before))
            if await self._ledger.swap({key: before}, {key: json.dumps(asdict(order))}):
                return order


def parse_order(text: str | None) -> CrawlOrder:
    """Return the order of a ledger row; the defaults for None.

    >>> parse_order('{"paused": true}').paused, parse_order(None).speed
    (True, 1.0)
    """
    order = CrawlOrder(**json.loads(text)) if text else CrawlOrder()
    return replace(order, urls=tuple(order.urls))


def parse_start_urls(name: str, urls: Sequence[str]) -> list[str]:
    """Return the canonical forms of start URLs.

    Raises:
        ConfigurationError: A URL is invalid, or the name is a whole task.

    >>> parse_start_urls("nev", ["HTTP://A.test"])
    ['http://a.test/']
    """
    if _TASK.fullmatch(name):
        raise ConfigurationError(
            "a task has one crawl per site: name one, such as {name}.a.test", name=name
        )
    found: list[str] = []
    for given in urls:
        if (url := canonical(given)) is None:
            raise ConfigurationError(
                "{given!r:.200} is not a URL: write https://host/path", given=given
            )
        found.append(url)
    return found


def _with_urls(order: CrawlOrder, urls: Sequence[str]) -> CrawlOrder:
    waiting = tuple(dict.fromkeys((*order.urls, *urls)))
    if len(waiting) > MAX_START_URLS:
        raise StateError(
            "more than {most_urls} start URLs would be waiting: retry when some are queued",
            most_urls=MAX_START_URLS,
        )
    return replace(order, urls=waiting)


def parse_speed(given: object) -> float:
    """Return a valid speed factor.

    Raises:
        SettingError: It is not a number in [``SLOWEST``, ``FASTEST``].

    >>> parse_speed("0.5")
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
