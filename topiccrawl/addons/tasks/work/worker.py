"""The worker: takes turns as long as there are any, follows orders, gives turns back."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from topiccrawl.addons.tasks.desk import crawl_of
from topiccrawl.addons.tasks.records import Ended, Progress
from topiccrawl.addons.tasks.work.shared import sweep
from topiccrawl.addons.tasks.work.turn import LOST, MOVED, OVER, PAUSED, SHUTDOWN, SiteTurn
from topiccrawl.errors import StorageError
from topiccrawl.extensions.control import CANCELLED

if TYPE_CHECKING:
    from scrapy.settings import Settings

    from topiccrawl.addons.tasks.board import Board
    from topiccrawl.addons.tasks.turns import Turns

logger = logging.getLogger(__name__)

PERIOD = 0.5
"""Seconds between two reports: longest delay of orders, and of turns passed on."""


class Worker:
    """Serves tasks with several crawls at a time in one process.

    Args:
        settings: For the crawls.
        turns: This worker's.
        quantum: Seconds after which a turn ends if another shard waits for it.
        once: Whether it ends when no task is left.
    """

    def __init__(self, settings: Settings, turns: Turns, quantum: float, *, once: bool) -> None:
        self._settings = settings
        self._turns = turns
        self._quantum = quantum
        self._once = once
        self._running: dict[str, SiteTurn] = {}
        self._ended: list[SiteTurn] = []
        self._wake = asyncio.Event()
        self._stopping = self._lost = False

    async def run(self) -> None:
        """Work until ``stop``, or with ``once`` until no task is left."""
        while not self._stopping:
            try:
                if await self._round():
                    break
                self._say(lost=False)
            except StorageError as error:
                self._say(lost=True, error=error)
            await self._sleep()
        await self._finish()

    def stop(self) -> None:
        """End ``run``: crawls are closed, turns given back."""
        self._stopping = True
        self._wake.set()

    async def _round(self) -> bool:
        """Report once and act on the board; return whether all is done."""
        await self._give_back()
        board = await self._turns.beat(self._progress())
        if board is None:
            self._close_all(LOST)
            return False
        for turn in list(self._running.values()):
            await self._steer(turn, board)
        while not self._stopping and (found := await self._turns.claim()) is not None:
            shard, now = found
            self._start(SiteTurn(
                self._settings, now.tasks[shard.task], shard, now.room(shard),
                self._turns.may_fetch, shared=now.is_shared(shard),
            ))  # fmt: skip
        return self._once and not self._running and all(map(board.over, board.tasks))

    def _start(self, turn: SiteTurn) -> None:
        sweep(self._settings)
        logger.info("%s: turn %d begins", turn.shard.name, turn.shard.turns)
        self._running[turn.shard.name] = turn
        turn.start(self._turn_ended)

    def _turn_ended(self, turn: SiteTurn) -> None:
        self._running.pop(turn.shard.name, None)
        self._ended.append(turn)
        self._wake.set()

    async def _steer(self, turn: SiteTurn, board: Board) -> None:
        order = board.order_of(turn.shard)
        turn.follow(order.speed)
        if turn.shard.name not in self._turns.held:
            turn.close(LOST)
        elif order.cancelled or not board.open(turn.shard.task):
            turn.close(CANCELLED)
        elif order.paused:
            turn.close(PAUSED)
        elif board.chosen(turn.shard) not in {"", self._turns.name}:
            turn.close(MOVED)
        elif turn.seconds > self._quantum and board.should_yield(turn.shard):
            turn.close(OVER)
        elif order.urls and turn.enqueue_start_urls(order.urls):
            await self._turns.took(crawl_of(turn.shard), order.urls)

    async def _give_back(self) -> None:
        """Report the outcomes of ended turns; a failed report is retried."""
        while self._ended:
            turn = self._ended[0]
            ended, reason = turn.outcome()
            if await self._turns.give(turn.shard.name, turn.progress(), ended, reason):
                word = "is left" if ended in {Ended.LEFT, Ended.CUT} else f"is {ended}"
                logger.info("%s: turn ends, the site %s (%s)", turn.shard.name, word, reason)
                if ended is Ended.DONE and not (await self._turns.board()).is_shared(turn.shard):
                    turn.forget()
            self._ended.pop(0)

    async def _finish(self) -> None:
        self._close_all(SHUTDOWN)
        while self._running:
            self._wake.clear()
            progress = self._progress()
            try:
                await self._give_back()
                await self._turns.beat(progress)
            except StorageError as error:
                self._say(lost=True, error=error)
            self._close_all(SHUTDOWN)
            await self._sleep()
        try:
            await self._give_back()
            await self._turns.leave()
        except StorageError as error:
            logger.error("%s; what is left here is free when it is given up", error)  # noqa: TRY400

    def _progress(self) -> dict[str, Progress]:
        return {name: turn.progress(ahead=2 * PERIOD) for name, turn in self._running.items()}

    def _close_all(self, reason: str) -> None:
        for turn in self._running.values():
            turn.close(reason)

    async def _sleep(self) -> None:
        try:
            await asyncio.wait_for(self._wake.wait(), PERIOD)
        except TimeoutError:
            return
        self._wake.clear()

    def _say(self, *, lost: bool, error: StorageError | None = None) -> None:
        if lost and not self._lost:
            logger.warning("%s; sites here pause until the tasks can be read again", error)
        if self._lost and not lost:
            logger.warning("The tasks can be read again")
        self._lost = lost
