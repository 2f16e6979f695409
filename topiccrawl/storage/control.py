"""Orders to crawls, kept in a ledger."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from topiccrawl.errors import SettingError, StateError
from topiccrawl.storage.ledger import FASTEST, SLOWEST, CrawlOrder

if TYPE_CHECKING:
    from collections.abc import Callable

    from topiccrawl.storage.ledger import Ledger

KIND = "orders"
MOST = 10_000
"""Orders that may exist when one for another crawl is made."""


class Control:
    """Orders to crawls in a ledger; see ``ledger.Steering``.

    Args:
        ledger: Ledger that stores the orders.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def order(self, name: str) -> CrawlOrder:
        """Return the order for a crawl."""
        return order_of(await self._ledger.get(KIND, name))

    async def pause(self, name: str) -> CrawlOrder:
        """Stop fetching."""
        return await self._change(name, paused=True)

    async def resume(self, name: str) -> CrawlOrder:
        """Resume fetching."""
        return await self._change(name, paused=False)

    async def cancel(self, name: str) -> CrawlOrder:
        """End the run; a pause ends with it."""
        return await self._change(name, paused=False, cancelled=await self._ledger.now())

    async def speed(self, name: str, factor: float) -> CrawlOrder:
        """Divide the delays by a factor."""
        return await self._change(name, speed=speed_of(factor))

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
            raise StateError(f"there are {MOST} orders: remove tasks that are over")
        order = how(order_of(before))
        text = json.dumps(asdict(order))
        if await ledger.swap({(KIND, name): before}, {(KIND, name): text}):
            return order


def order_of(text: str | None) -> CrawlOrder:
    """Return the order that a row holds.

    >>> order_of('{"paused": true}').paused, order_of(None).speed
    (True, 1.0)
    """
    return CrawlOrder(**json.loads(text)) if text else CrawlOrder()


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
        message = (
            f"speed is {given!r:.50}: give a factor from {SLOWEST:g} to {FASTEST:g}, 1 is normal"
        )
        raise SettingError(message)
    return factor
