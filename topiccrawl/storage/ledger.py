"""Ledger: shared state of tasks, turns, workers and operator orders.

The state is rows of JSON text, identified by kind and name. Processes change it by compare-and-swap
of several rows: either all changes are written, or none if a row that was read has changed since.
The ledger is stored in Redis, or in a file that all processes of one machine share. ``Control``
keeps the operator orders for crawls in it.
"""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
import time
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from topiccrawl.errors import (
    ConfigurationError,
    SettingError,
    StateError,
    StorageAwayError,
    translated,
)
from topiccrawl.links.urls import canonical
from topiccrawl.messages import message
from topiccrawl.storage.files import touch_private

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    T = TypeVar("T")

Key = tuple[str, str]
"""Kind and name of a row."""
Rows = dict[str, dict[str, str]]
"""Texts of rows by kind and name."""

FILE = "tasks.sqlite"
BUSY_SECONDS = 10.0
"""Seconds that a call waits for writes of other processes, which take milliseconds."""
_TABLE = (
    "CREATE TABLE IF NOT EXISTS ledger"
    " (kind TEXT, name TEXT, text TEXT NOT NULL, PRIMARY KEY (kind, name)) WITHOUT ROWID"
)

SLOWEST, FASTEST = 0.01, 10.0
"""Bounds of ``CrawlOrder.speed``."""

MAX_ORDERS = 10_000
"""Maximum number of stored orders."""
MAX_START_URLS = 500
"""Maximum number of start URLs that wait for one crawl."""
_TASK = re.compile(r"task-\d+")


class Ledger(Protocol):
    """Rows of text that several processes share.

    Raises (all methods):
        StorageAwayError: The ledger is unavailable; the call may succeed later.
    """

    async def get(self, kind: str, name: str) -> str | None:
        """Return the text of a row, or None."""

    async def read(self, *kinds: str) -> Rows:
        """Return a consistent snapshot of all rows of these kinds."""

    async def swap(self, before: Mapping[Key, str | None], after: Mapping[Key, str | None]) -> bool:
        """Write ``after`` if all rows equal ``before``; return whether. None means no row."""

    async def now(self) -> float:
        """Return the time of the shared clock, seconds since the epoch."""

    async def close(self) -> None:
        """Close connections. Idempotent."""


@dataclass(frozen=True, slots=True)
class CrawlOrder:
    """Operator order for a crawl, or for all crawls of a task.

    Attributes:
        paused: True to fetch nothing.
        speed: Divisor of the delays between requests to a host, in [``SLOWEST``, ``FASTEST``]. The
            crawl-delay of robots.txt and Retry-After still apply.
        cancelled: Time of the cancellation, seconds since the epoch; 0 if not cancelled. Crawls
            started later are not affected.
        urls: Start URLs that the crawl has not queued yet.
        worker: Worker assigned to this site of a task; "" for any.
    """

    paused: bool = False
    speed: float = 1.0
    cancelled: float = 0.0
    urls: tuple[str, ...] = ()
    worker: str = ""


class LocalLedger:
    """``Ledger`` in a SQLite file. Calls run in a thread and never block the event loop.

    Args:
        folder: TOPICCRAWL_DATA_DIR; the first write creates the file.
    """

    def __init__(self, folder: str | Path) -> None:
        self.path = Path(folder) / FILE

    async def get(self, kind: str, name: str) -> str | None:
        """See ``Ledger.get``."""
        if not self.path.exists():
            return None
        return await self._call(lambda c: _row(c, (kind, name)))

    async def read(self, *kinds: str) -> Rows:
        """See ``Ledger.read``."""
        rows: Rows = {kind: {} for kind in kinds}
        if self.path.exists():
            marks = ",".join("?" * len(kinds))
            query = f"SELECT * FROM ledger WHERE kind IN ({marks})"  # noqa: S608 - marks
            for kind, name, text in await self._call(lambda c: c.execute(query, kinds).fetchall()):
                rows[kind][name] = text
        return rows

    async def swap(self, before: Mapping[Key, str | None], after: Mapping[Key, str | None]) -> bool:
        """See ``Ledger.swap``."""

        def work(connection: sqlite3.Connection) -> bool:
            connection.execute("BEGIN IMMEDIATE")
            same = all(_row(connection, key) == text for key, text in before.items())
            for key, text in after.items() if same else ():
                if text is None:
                    connection.execute("DELETE FROM ledger WHERE kind = ? AND name = ?", key)
                else:
                    connection.execute("REPLACE INTO ledger VALUES (?, ?, ?)", (*key, text))
            connection.execute("COMMIT")
            return same

        return await self._call(work)

    async def now(self) -> float:
        """Return the time of the machine, seconds since the epoch."""
        return time.time()

    async def close(self) -> None:
        """Do nothing: no connection is held open."""

    async def _call(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await asyncio.to_thread(self._work, work)

    def _work(self, work: Callable[[sqlite3.Connection], T]) -> T:
        text = message("{path}: cannot be used ({error}): see that its folder can be written")
        with translated(StorageAwayError, text, (sqlite3.Error, OSError), path=self.path):
            touch_private(self.path)
            with closing(sqlite3.connect(self.path, timeout=BUSY_SECONDS)) as connection:
                connection.isolation_level = None
                connection.execute(_TABLE)
                return work(connection)


def _row(connection: sqlite3.Connection, key: Key) -> str | None:
    query = "SELECT text FROM ledger WHERE kind = ? AND name = ?"
    found = connection.execute(query, key).fetchone()
    return None if found is None else str(found[0])


ORDERS = "orders"


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
        return parse_order(await self._ledger.get(ORDERS, name))

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
        if await self._ledger.get(ORDERS, name) is not None:
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
        key, most = (ORDERS, name), MAX_ORDERS
        while True:
            before = await self._ledger.get(*key)
            if before is None and len((await self._ledger.read(ORDERS))[ORDERS]) >= most:
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
