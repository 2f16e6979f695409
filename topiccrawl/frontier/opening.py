"""The order of the queues, made anew from the rows when a frontier opens.

A million rows take about a second, so that no second copy of the order has to be kept safe.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import numpy as np

from topiccrawl.frontier.order import Order
from topiccrawl.frontier.rows import DELAYED, HEAD_BYTES, HEAD_FIELDS, QUEUED, TOP

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from topiccrawl.frontier.places import Host, Unit
    from topiccrawl.frontier.store import Store

HEAD = np.dtype(
    {
        "names": list(HEAD_FIELDS),
        "formats": [form for form, _ in HEAD_FIELDS.values()],
        "offsets": [at for _, at in HEAD_FIELDS.values()],
        "itemsize": HEAD_BYTES,
    }
)
BATCH = 20_000
TOLD = 100
"""Batches between two words on how far it is: two million URLs, some seconds."""
logger = logging.getLogger(__name__)


def put_in_order(store: Store, hosts: list[Host]) -> None:
    """Enter all rows that are queued by value, and not leased, into the orders of their units."""
    size = store.urls.known
    for number, heads in enumerate(_heads(store), 1):
        _enter(heads, hosts)
        if number % TOLD == 0:
            logger.info("%s: %d of %d URLs are in order", store.path, number * BATCH, size)
    for host in hosts:
        for unit in host.units:
            _settle(unit)


def _heads(store: Store) -> Iterator[NDArray[np.void]]:
    """The heads of rows that are not leased, many at a time, in the order of the log."""
    urls = store.urls
    leased = urls.find_many(store.leased())
    numbers = urls.as_written()
    numbers = numbers[~np.isin(numbers, leased)]
    for at in range(0, len(numbers), BATCH):
        yield urls.heads(numbers[at : at + BATCH], HEAD_BYTES).view(HEAD)[:, 0]


def _enter(rows: NDArray[np.void], hosts: list[Host]) -> None:
    """Append what is queued to its order."""
    rows = rows[(rows["state"] == QUEUED) & (rows["flags"] & DELAYED == 0)]
    lines = (
        rows["host"].astype(np.uint64) << 17 | rows["unit"].astype(np.uint64) << 1 | rows["lane"]
    )
    entries = (TOP - rows["value"]).astype(np.uint64) << 32 | rows["seq"]
    turn = np.argsort(lines, kind="stable")
    lines, entries = lines[turn], entries[turn]
    ends = [*(np.flatnonzero(np.diff(lines)) + 1).tolist(), len(lines)]
    start = 0
    for end in ends if len(lines) else ():
        line = int(lines[start])
        orders = hosts[line >> 17].units[line >> 1 & 0xFFFF].orders
        order = orders[line & 1]
        if order is None:
            order = orders[line & 1] = Order()
        order.extend(entries[start:end].tobytes())
        start = end


def _settle(unit: Unit) -> None:
    for lane, order in enumerate(unit.orders):
        if order is not None:
            order.settle()
            unit.heads[lane] = order.first()
