"""A worker's side: it joins, takes turns, reports progress, gives turns back, removes dead workers.

A turn belongs to a worker as long as the worker's row exists. The worker renews it. A worker that
finds another one late deletes that row and frees its sites in one swap, which fails if the late
worker has reported meanwhile. So a worker whose row is gone knows that its sites are others', and
one that cannot ask stops fetching before it can time out (``safe_until``). After a call whose
answer was lost, the rows are read again before the next report.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from topiccrawl.addons.tasks.board import KINDS, Board
from topiccrawl.addons.tasks.records import (
    SHARDS,
    TURNS,
    WORKERS,
    Ended,
    Progress,
    Shard,
    State,
    Turn,
    Worker,
)
from topiccrawl.storage.control import Control
from topiccrawl.storage.identity import own_identity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from topiccrawl.storage.ledger import Key, Ledger, Rows

TTL = 10.0
"""Seconds of silence after which a worker times out."""
MAX_FAILURES = 5
"""Turns in a row that may fail, or kill their worker, before a shard counts as failed."""
MAX_REST = 60.0
"""Longest pause of a site between turns, in seconds; as a robots.txt's longest crawl-delay."""
_PAUSE = 5.0
"""Seconds until a failed shard is retried, twice as long each time."""


class Turns:
    """The turns of one worker.

    Args:
        ledger: Ledger of all rows.
        slots: Sites this worker can crawl at once.
        ttl: Seconds of silence after which workers time out; the same for all.

    Attributes:
        name: The worker's.
        held: Shards that have their turn here, by name, as they were when it began.
        safe_until: Moment (``time.monotonic``) until which no worker can have timed us out.
    """

    def __init__(self, ledger: Ledger, slots: int, ttl: float = TTL) -> None:
        self.name = ""
        self.held: dict[str, Shard] = {}
        self.safe_until = 0.0
        self._ledger, self._slots, self._ttl = ledger, slots, ttl
        self._lock = asyncio.Lock()
        self._texts: dict[Key, str] = {}
        self._patient = 0.0
        self._doubt = False
        self._last = time.monotonic()

    def may_fetch(self) -> bool:
        """Return whether the turns here are surely ours at this moment."""
        return time.monotonic() < self.safe_until

    async def beat(self, progress: Mapping[str, Progress]) -> Board | None:
        """Report the progress of all turns; join if we are not registered (yet, or any more).

        Returns:
            The board, or None if we had timed out: turns held before are no longer ours.
        """
        async with self._lock:
            sent, doubt = time.monotonic(), self._doubt
            self._doubt = True  # until an answer says otherwise
            if sent - self._last > self._ttl / 2:
                self._patient = sent + self._ttl  # others were cut off, too: give them time
            now = await self._ledger.now()
            known = await self._ledger.get(WORKERS, self.name) if self.name else None
            if doubt and known is not None:
                await self._believe(await self._rows())
            lost = bool(self.name) and known is None
            if known is None:
                self._begin()
            before, after = self._word(now, known, {} if lost else progress)
            if not await self._ledger.swap(before, after):
                lost = lost or known is not None
                self._begin()
                return None
            self._texts.update({key: text for key, text in after.items() if text is not None})
            self._doubt = False
            self._last, self.safe_until = sent, sent + self._ttl
            return None if lost else await self._look(now)

    async def claim(self) -> tuple[Shard, Board] | None:
        """Take the next turn, if a slot and a site are free."""
        async with self._lock:
            board = await self._look(await self._ledger.now())
            for shard in board.next(self.name):
                if len(self.held) >= self._slots or not self.may_fetch():
                    return None
                if await self._take(shard, board.now):
                    return self.held[shard.name], board
            return None

    async def took(self, crawl: str, urls: Sequence[str]) -> None:
        """Record that a crawl took start URLs of its order."""
        await Control(self._ledger).discard_urls(crawl, urls)

    async def give(self, name: str, progress: Progress, ended: Ended, reason: str) -> bool:
        """End a turn; return False if it was no longer ours. After an error, it can be retried."""
        async with self._lock:
            shard = self.held.get(name)
            if shard is None:
                return False
            now = await self._ledger.now()
            turn, row = (TURNS, shard.site), (SHARDS, name)
            seconds = now - Turn.read(self._texts[turn]).since
            after = _ended(_gone_on(shard, progress), ended, reason, now, seconds)
            rest = Turn(rest=min(progress.rest, now + MAX_REST))
            before = {key: self._texts[key] for key in (turn, row)}
            given = await self._ledger.swap(before, {turn: rest.text(), row: after.text()})
            del self.held[name], self._texts[turn], self._texts[row]
            self._doubt = self._doubt or not given
            return given

    async def board(self) -> Board:
        """Return the board as it is now."""
        return Board.of(await self._rows(), await self._ledger.now())

    async def leave(self) -> None:
        """Leave; turns that are still held become free."""
        async with self._lock:
            known = await self._ledger.get(WORKERS, self.name) if self.name else None
            if known is not None:
                before, after = _burial(self.name, await self._rows())
                await self._ledger.swap(before, after)
            self._begin()
            self.name = ""

    # -- within ------------------------------------------------------------------------------------

    def _begin(self) -> None:
        """Start under a new name, so that late reports of the old one have no effect."""
        self.name = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(3)}"
        self.held.clear()
        self._texts.clear()
        self.safe_until = 0.0

    def _word(
        self, now: float, known: str | None, progress: Mapping[str, Progress]
    ) -> tuple[dict[Key, str | None], dict[Key, str | None]]:
        """Return the swap of a report: our row, and the turns and shards that are here."""
        began = Worker.read(known).began if known else now
        me = Worker(
            own_identity(), self._slots, began, now + self._ttl, socket.gethostname(), os.getpid()
        )
        before: dict[Key, str | None] = {(WORKERS, self.name): known}
        after: dict[Key, str | None] = {(WORKERS, self.name): me.text()}
        for name, shard in self.held.items():
            done = progress.get(name)
            if done is None:
                continue
            turn, row = (TURNS, shard.site), (SHARDS, name)
            before |= {turn: self._texts[turn], row: self._texts[row]}
            rest = min(done.rest, now + MAX_REST)
            after[turn] = replace(Turn.read(self._texts[turn]), rest=rest).text()
            after[row] = _gone_on(shard, done).text()
        return before, after

    async def _rows(self) -> Rows:
        return await self._ledger.read(*KINDS)

    async def _look(self, now: float) -> Board:
        """Remove dead workers; return the board."""
        rows = await self._rows()
        board = Board.of(rows, now)
        late = time.monotonic() >= self._patient
        for name in board.dead():
            if name != self.name and (late or board.workers[name].expires >= now):
                await self._ledger.swap(*_burial(name, rows))
                rows = await self._rows()
        return Board.of(rows, now)

    async def _take(self, shard: Shard, now: float) -> bool:
        """Take a shard's turn; return False if another worker was faster."""
        free = await self._ledger.get(TURNS, shard.site)
        if free is not None and Turn.read(free).shard:
            return False
        me = await self._ledger.get(WORKERS, self.name)
        if me is None:
            return False
        turn, row = (TURNS, shard.site), (SHARDS, shard.name)
        taken = Turn(shard.name, self.name, now, now).text()
        begun = replace(shard, turns=shard.turns + 1)
        doubt, self._doubt = self._doubt, True
        before = {turn: free, row: shard.text(), (WORKERS, self.name): me}
        won = await self._ledger.swap(before, {turn: taken, row: begun.text()})
        self._doubt = doubt
        if not won:
            return False
        self._texts |= {turn: taken, row: begun.text()}
        self.held[shard.name] = begun
        return True

    async def _believe(self, rows: Rows) -> None:
        """Adopt the stored rows: they show the reports, claims and returns that took effect."""
        for site, text in rows[TURNS].items():
            turn = Turn.read(text)
            if turn.worker != self.name:
                continue
            row, shard = (SHARDS, turn.shard), rows[SHARDS].get(turn.shard)
            if turn.shard not in self.held:
                await self._ledger.swap({(TURNS, site): text}, {(TURNS, site): _free(turn)})
            elif shard is not None:
                self._texts |= {(TURNS, site): text, row: shard}


def _free(turn: Turn) -> str:
    return Turn(rest=turn.rest).text()


def _gone_on(shard: Shard, progress: Progress) -> Shard:
    """Return a shard with the progress of its turn; ``shard`` is from the turn's beginning."""
    return replace(
        shard,
        pages=shard.pages + progress.pages,
        relevant=shard.relevant + progress.relevant,
        articles=shard.articles + progress.articles,
        tried={**shard.tried, **progress.tried},
    )


def _ended(shard: Shard, ended: Ended, reason: str, now: float, seconds: float) -> Shard:
    """Return a shard after its turn."""
    served = shard.served if ended is Ended.CUT else now
    shard = replace(shard, served=served, seconds=shard.seconds + seconds, reason=reason)
    if ended is Ended.FAILED:
        return _failed(shard, now)
    state = {Ended.DONE: State.DONE, Ended.HOPELESS: State.FAILED}.get(ended, State.WAITING)
    return replace(shard, state=state, failures=0)


def _failed(shard: Shard, now: float) -> Shard:
    failures = shard.failures + 1
    state = State.FAILED if failures >= MAX_FAILURES else State.WAITING
    later = now + _PAUSE * 2 ** (failures - 1)
    return replace(shard, failures=failures, state=state, not_before=later)


def _burial(name: str, rows: Rows) -> tuple[dict[Key, str | None], dict[Key, str | None]]:
    """Return the swap that removes a worker and frees its sites, each with its last ``rest``."""
    before: dict[Key, str | None] = {(WORKERS, name): rows[WORKERS].get(name)}
    after: dict[Key, str | None] = {(WORKERS, name): None}
    for site, text in rows[TURNS].items():
        turn = Turn.read(text)
        if turn.worker != name:
            continue
        row = (SHARDS, turn.shard)
        before |= {(TURNS, site): text, row: rows[SHARDS].get(turn.shard)}
        after[TURNS, site] = _free(turn)
        if known := rows[SHARDS].get(turn.shard):
            after[row] = _orphan(Shard.read(known)).text()
    return before, after


def _orphan(shard: Shard) -> Shard:
    """Count the death of a shard's worker; do not delay the shard: it is seldom the cause."""
    failures = shard.failures + 1
    state = State.FAILED if failures >= MAX_FAILURES else State.WAITING
    return replace(shard, failures=failures, state=state, reason="worker died")
