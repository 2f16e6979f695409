"""Sync task: a node's conversations with Redis while the crawl goes on; nothing waits for it."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, NamedTuple

from redis.exceptions import RedisError

from topiccrawl.addons.redis.transport import AsyncWire, address
from topiccrawl.errors import StorageError, TopiccrawlError

if TYPE_CHECKING:
    from collections.abc import Callable

    from redis.asyncio import Redis as AsyncRedis

    from topiccrawl.addons.redis.frontier import SharedFrontier

logger = logging.getLogger(__name__)

PERIOD = 0.1
"""Seconds between two exchanges; messages of other nodes are received at most so late."""
LOOK = 1.0
"""Seconds between two views of the whole crawl, while this node has enough to do."""
LOAD = 0.05
"""Seconds of loading between two exchanges."""
AGAIN = 0.5
"""Seconds until Redis is retried."""


class Starts(NamedTuple):
    """Start URLs that operators put into Redis.

    Attributes:
        key: List, set or sorted set that contains them.
        most: Number taken at once, at most.
        take: Called with each, URL or JSON text.
        wait: Seconds that an idle crawl waits for more: 0 for ever, negative not at all.
    """

    key: str
    most: int
    take: Callable[[bytes], None]
    wait: float


class RedisSync:
    """Sync task of the event loop: exchanges every ``PERIOD``, and retries while Redis is away.

    Args:
        frontier: Detached: its calls wait for nothing.
        client: Of the same server, without decoding of responses.
        wake: Called when the frontier may lease something new, or has nothing left.
        fail: Called with an error that ends the crawl.
        took: Called when all buckets that this node took are served.
        starts: Start URLs to listen for, or None.
    """

    def __init__(
        self, frontier: SharedFrontier, client: AsyncRedis, *, wake: Callable[[], None],
        fail: Callable[[TopiccrawlError], None], took: Callable[[], object] = lambda: None,
        starts: Starts | None = None,
    ) -> None:  # fmt: skip
        self._frontier = frontier
        self._client = client
        self._wire = AsyncWire(client)
        self._wake, self._fail, self._took, self._starts = wake, fail, took, starts
        self._takings = 0
        self._task: asyncio.Task[None] | None = None
        self._next_look = 0.0
        self._last = self._patient = self._busy = time.monotonic()
        self._lost = 0.0
        self._stopped = False
        self._last_state: tuple[bool, bool] = (False, True)

    def start(self) -> None:
        """Start the task in the running event loop."""
        self._task = asyncio.get_running_loop().create_task(self._run())
        self._task.add_done_callback(self._ended)

    async def stop(self) -> None:
        """Stop the task and close the connection; twice equals once."""
        self._stopped = True  # a time-out may swallow the cancellation
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
        await self._client.aclose()

    @property
    def loading(self) -> bool:
        """True while this node has taken hosts that it does not serve yet."""
        return not self._frontier.membership.partitions.idle()

    @property
    def away(self) -> bool:
        """True if Redis did not answer the last exchange."""
        return bool(self._lost)

    def waits(self) -> bool:
        """Return whether an idle crawl should wait for start URLs."""
        if self._starts is None or self._starts.wait < 0:
            return False
        return not self._starts.wait or time.monotonic() - self._busy < self._starts.wait

    async def _run(self) -> None:
        while not self._stopped:
            try:
                came = await self._round()
            except RedisError as error:
                self._say_lost(error)
                await asyncio.sleep(AGAIN)
                continue
            except TopiccrawlError as error:
                self._fail(error)
                return
            self._say_found()
            state = (self._frontier.membership.may_serve(), self._frontier.pending())
            if state[1]:
                self._busy = time.monotonic()
            if came or state != self._last_state or not (state[1] or self.waits()):
                self._wake()
            self._last_state = state
            await asyncio.sleep(PERIOD)

    async def _round(self) -> bool:
        """Do one exchange and load for ``LOAD`` seconds; return whether anything new came."""
        frontier, now = self._frontier, time.monotonic()
        membership = frontier.membership
        if now - self._last > membership.ttl / 2:
            self._patient = now + membership.ttl  # others were cut off, too: give them time
            self._last_state = (False, True)
        look = now >= self._next_look or membership.idle()
        epoch, before = membership.epoch, membership.safe_until - membership.ttl
        came = await self._wire.run(frontier.converse(look=look, patient=now < self._patient))
        self._last = time.monotonic()
        if epoch and not membership.epoch:
            logger.warning(
                "The other nodes gave this one up, which was silent for %.1f s (%g may be): it"
                " starts over, and what it had not sent yet is fetched again",
                self._last - before, membership.ttl,
            )  # fmt: skip
        if look:
            self._next_look = now + LOOK
        while membership.partitions.loading() and time.monotonic() < self._last + LOAD:
            came = await self._wire.run(membership.partitions.load(membership.base)) or came
        if membership.partitions.takings != self._takings and membership.partitions.idle():
            self._takings = membership.partitions.takings
            self._took()
        return await self._hear_starts() or came

    async def _hear_starts(self) -> bool:
        membership, starts = self._frontier.membership, self._starts
        if starts is None or not membership.may_serve():
            return False
        texts = await self._wire.run(membership.starts(starts.key, starts.most))
        for text in texts:
            starts.take(text)
        return bool(texts)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """End the crawl if the task failed: the node would serve nothing any more."""
        error = None if task.cancelled() else task.exception()
        if error is not None:
            logger.critical("The sync task broke", exc_info=error)
            self._fail(
                StorageError(
                    "{address}: nothing is sent any more ({error})",
                    address=address(self._client),
                    error=error,
                )
            )

    def _say_lost(self, error: RedisError) -> None:
        if not self._lost:
            self._lost = time.monotonic()
            logger.warning(
                "%s: Redis does not answer (%s); the crawl pauses within %g s and goes on when it"
                " does; nothing is lost", address(self._client), error,
                self._frontier.membership.ttl,
            )  # fmt: skip

    def _say_found(self) -> None:
        if self._lost:
            logger.warning(
                "%s: Redis answers again after %.1f s; the crawl goes on",
                address(self._client), time.monotonic() - self._lost,
            )  # fmt: skip
            self._lost = 0.0
