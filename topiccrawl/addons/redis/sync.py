"""Sync task: exchanges the batches of a node with Redis in the event loop of the crawl."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from redis.exceptions import RedisError

from topiccrawl.addons.redis.transport import address, eviction_policy, run_async
from topiccrawl.errors import StorageError, TopiccrawlError
from topiccrawl.messages import message

if TYPE_CHECKING:
    from collections.abc import Callable

    from redis.asyncio import Redis as AsyncRedis

    from topiccrawl.addons.redis.frontier import SharedFrontier

logger = logging.getLogger(__name__)

PERIOD = 0.1
"""Seconds between two exchanges, the maximum delay of messages of other nodes."""
VIEW_INTERVAL = 1.0
"""Seconds between two views of the whole crawl while this node is not idle."""
LOAD_SECONDS = 0.05
"""Seconds for loading buckets between two exchanges."""
RETRY_WAIT = 0.5
"""Seconds until a failed exchange is retried."""


class Starts(NamedTuple):
    """Source of start URLs that operators add in Redis.

    Attributes:
        key: Key of the list, set or sorted set of start URLs.
        most: Maximum number taken at once.
        take: Called with each start URL, plain or as JSON.
        wait: Seconds that an idle crawl waits for start URLs; 0: without end, negative: not at all.
    """

    key: str
    most: int
    take: Callable[[bytes], None]
    wait: float


class RedisSync:
    """Task that exchanges a batch every ``PERIOD``, and retries while Redis is away.

    Args:
        frontier: Detached frontier, whose calls do not wait for the network.
        client: Client of the same server, without decoding of responses.
        wake: Called when the frontier may have new leases, or is empty.
        fail: Called with an error that ends the crawl.
        took: Called when all buckets taken by this node are served.
        starts: Source of start URLs.
    """

    def __init__(
        self, frontier: SharedFrontier, client: AsyncRedis, *, wake: Callable[[], None],
        fail: Callable[[TopiccrawlError], None], took: Callable[[], object], starts: Starts,
    ) -> None:  # fmt: skip
        self._frontier = frontier
        self._client = client
        self._wake, self._fail, self._took, self._starts = wake, fail, took, starts
        self._takings = 0
        self._task: asyncio.Task[None] | None = None
        self._next_look = 0.0
        self._last = self._patient = self._busy = time.monotonic()
        self._away_since = 0.0
        self._stopped = False
        self._last_state: tuple[bool, bool] = (False, True)

    def start(self) -> None:
        """Start the task in the running event loop."""
        self._task = asyncio.get_running_loop().create_task(self._run())
        self._task.add_done_callback(self._ended)

    async def stop(self) -> None:
        """Stop the task and close the connection. Idempotent."""
        self._stopped = True  # a timeout may swallow the cancellation
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
        """True if the last exchange failed."""
        return bool(self._away_since)

    def waits(self) -> bool:
        """Return whether an idle crawl should wait for start URLs."""
        wait = self._starts.wait
        return wait == 0 or time.monotonic() - self._busy < wait

    async def _run(self) -> None:
        await self._warn_of_eviction()
        while not self._stopped:
            try:
                came = await self._round()
            except RedisError as error:
                self._log_outage(error)
                await asyncio.sleep(RETRY_WAIT)
                continue
            except TopiccrawlError as error:
                self._fail(error)
                return
            self._log_recovery()
            state = (self._frontier.membership.may_serve(), self._frontier.pending())
            if state[1]:
                self._busy = time.monotonic()
            if came or state != self._last_state or not (state[1] or self.waits()):
                self._wake()
            self._last_state = state
            await asyncio.sleep(PERIOD)

    async def _warn_of_eviction(self) -> None:
        with suppress(RedisError):  # INFO needs a right that the user may not have
            if policy := eviction_policy(await self._client.info("memory")):
                logger.warning(
                    "%s: maxmemory-policy is %s, so Redis may drop keys of crawls without"
                    " notice: set noeviction", address(self._client), policy,
                )  # fmt: skip

    async def _round(self) -> bool:
        """Exchange once and load for ``LOAD_SECONDS``; return whether anything was received."""
        frontier, now = self._frontier, time.monotonic()
        membership = frontier.membership
        if now - self._last > membership.ttl / 2:
            self._patient = now + membership.ttl  # other nodes were probably cut off, too
            self._last_state = (False, True)
        look = now >= self._next_look or membership.idle()
        epoch, before = membership.epoch, membership.safe_until - membership.ttl
        came = await run_async(
            self._client, frontier.converse(look=look, patient=now < self._patient)
        )
        self._last = time.monotonic()
        if self._last - now > membership.ttl / 2:  # a slow server, or a stop of this process
            self._patient = self._last + membership.ttl
        if epoch and not membership.epoch:
            logger.warning(
                "The other nodes timed out this node after %.1f s without a heartbeat (limit %g s),"
                " or Redis returned with older data: it joins again, and pages whose results are"
                " not in Redis are fetched again",
                self._last - before, membership.ttl,
            )  # fmt: skip
        if look:
            self._next_look = now + VIEW_INTERVAL
        partitions = membership.partitions
        while partitions.loading() and time.monotonic() < self._last + LOAD_SECONDS:
            came = await run_async(self._client, partitions.load(membership.base)) or came
        if partitions.served_count != self._takings and partitions.idle():
            self._takings = partitions.served_count
            self._took()
        return await self._take_start_urls() or came

    async def _take_start_urls(self) -> bool:
        membership, starts = self._frontier.membership, self._starts
        if not membership.may_serve():
            return False
        texts = await run_async(self._client, membership.starts(starts.key, starts.most))
        for text in texts:
            starts.take(text)
        return bool(texts)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """End the crawl if the task failed, since the node cannot serve hosts without it."""
        error = None if task.cancelled() else task.exception()
        if error is not None:
            logger.critical("The sync task crashed", exc_info=error)
            text = message("{address}: the sync task crashed ({error})")
            self._fail(StorageError(text, address=address(self._client), error=error))

    def _log_outage(self, error: RedisError) -> None:
        if not self._away_since:
            self._away_since = time.monotonic()
            logger.warning(
                "%s: Redis failed (%s); the crawl pauses within %g s, and continues"
                " without loss when Redis works again", address(self._client), error,
                self._frontier.membership.ttl,
            )  # fmt: skip

    def _log_recovery(self) -> None:
        if self._away_since:
            logger.warning(
                "%s: Redis works again after %.1f s; the crawl continues",
                address(self._client), time.monotonic() - self._away_since,
            )  # fmt: skip
            self._away_since = 0.0
