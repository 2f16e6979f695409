"""Session of a worker: registration, claims of turns, heartbeats, removal of dead workers.

A turn belongs to a worker as long as the worker's row exists. Heartbeats and claims renew the row.
A worker that finds another worker timed out deletes its row and frees its sites in one swap, which
fails if a heartbeat or a claim has arrived since. A worker whose row was deleted has lost its
sites. A worker that cannot reach the ledger stops fetching before it can time out
(``safe_until``). The response to a call may be lost: every change is based on rows that were just
read, and a heartbeat frees the turns whose claims succeeded without the worker's knowledge.
"""

from __future__ import annotations

import os
import secrets
import socket
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from topiccrawl.addons.tasks.records import Progress, Row, Shard, State, Turn, TurnOutcome, Worker
from topiccrawl.addons.tasks.snapshot import Snapshot
from topiccrawl.storage.identity import own_identity
from topiccrawl.storage.ledger import Control, Key, Ledger

if TYPE_CHECKING:
    from collections.abc import Mapping

TTL = 10.0
"""Seconds without a heartbeat after which a worker times out."""
MAX_FAILURES = 5
"""Consecutive turns that may fail, or end by their worker's death, before a shard has failed."""
_RETRY_DELAY = 5.0
"""Seconds until the first retry of a failed shard; doubles with each further failure."""


class WorkerSession:
    """Registration and turns of one worker, whose methods are awaited one after the other.

    Args:
        ledger: Ledger that stores all rows.
        slots: Number of sites this worker can crawl at once.
        ttl: Seconds without a heartbeat after which workers time out; the same for all workers.

    Attributes:
        name: Name of the worker.
        shards: Shards that this worker crawls, by name, as of the start of their turns.
        safe_until: Time (``time.monotonic``) until which this worker cannot have timed out.
        control: Orders to crawls.
    """

    def __init__(self, ledger: Ledger, slots: int, ttl: float = TTL) -> None:
        self.name = ""
        self.shards: dict[str, Shard] = {}
        self.safe_until = 0.0
        self.control = Control(ledger)
        self._ledger, self._slots, self._ttl = ledger, slots, ttl
        self._grace_until = 0.0
        self._last = time.monotonic()

    def may_fetch(self) -> bool:
        """Return whether this worker certainly still owns its turns."""
        return time.monotonic() < self.safe_until

    async def heartbeat(self, progress: Mapping[str, Progress]) -> Snapshot | None:
        """Renew the registration and report the progress of all turns; register if needed.

        Returns:
            A snapshot, or None if this worker had timed out and so has lost its turns.
        """
        sent = time.monotonic()
        if sent - self._last > self._ttl / 2:
            # The ledger was away for all workers: let them register before removing any.
            self._grace_until = sent + self._ttl
        snapshot = await self.snapshot()
        known = snapshot.workers.get(self.name)
        lost = bool(self.name) and known is None
        if known is None:
            self._reset()
        turns = snapshot.turns_of(self.name)
        for shard in self.shards.keys() - {turn.shard for turn in turns.values()}:
            del self.shards[shard]  # the ledger has lost this turn: its crawl must end
        worker = Worker(
            own_identity(), self._slots, known.began if known else snapshot.now,
            snapshot.now + self._ttl, socket.gethostname(), os.getpid(),
        )  # fmt: skip
        after = self._progressed(turns, progress, snapshot.now)
        after[Worker.key(self.name)] = worker
        if not await snapshot.swap(self._ledger, after, map(Turn.key, turns)):
            self._reset()
            return None
        self._last, self.safe_until = sent, sent + self._ttl
        return None if lost else await self._remove_dead(await self.snapshot())

    async def claim(self) -> tuple[Shard, Snapshot] | None:
        """Start the next turn, if a slot and a site are free."""
        snapshot = await self._remove_dead(await self.snapshot())
        for shard in snapshot.next(self.name):
            if len(self.shards) >= self._slots or not self.may_fetch():
                return None
            if await self._start_turn(shard, snapshot):
                return self.shards[shard.name], snapshot
        return None

    async def release(
        self, name: str, progress: Progress, outcome: TurnOutcome, reason: str
    ) -> bool:
        """End a turn; return False if this worker had lost it. After an error, call again."""
        shard = self.shards.get(name)
        if shard is None:
            return False
        snapshot = await self.snapshot()
        now, held = snapshot.now, snapshot.turns.get(shard.site, Turn())
        after = _with_outcome(
            _with_progress(shard, progress), outcome, reason, now, seconds=now - held.since
        )
        free = Turn(rest=progress.rest_until(now))
        rows: dict[Key, Row | None] = {Turn.key(shard.site): free, Shard.key(name): after}
        ours = (held.worker, held.shard) == (self.name, name)
        released = ours and await snapshot.swap(self._ledger, rows)
        del self.shards[name]
        return released

    async def snapshot(self) -> Snapshot:
        """Return a snapshot of all rows."""
        return await Snapshot.read(self._ledger)

    async def leave(self) -> None:
        """Unregister this worker; sites of its remaining turns become free."""
        if self.name:
            snapshot = await self.snapshot()
            await snapshot.swap(self._ledger, _removal(self.name, snapshot))
        self._reset()
        self.name = ""

    def _reset(self) -> None:
        """Choose a new name, so that delayed writes under the old one have no effect."""
        self.name = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(3)}"
        self.shards.clear()
        self.safe_until = 0.0

    def _progressed(
        self, turns: Mapping[str, Turn], progress: Mapping[str, Progress], now: float
    ) -> dict[Key, Row | None]:
        """Return the rows of this worker's turns and of their shards with their progress."""
        after: dict[Key, Row | None] = {}
        for site, turn in turns.items():
            shard, done = self.shards.get(turn.shard), progress.get(turn.shard)
            if shard is None:  # the response to its claim was lost
                after[Turn.key(site)] = Turn(rest=turn.rest)
            elif done is not None:
                after[Shard.key(shard.name)] = _with_progress(shard, done)
                after[Turn.key(site)] = replace(turn, rest=done.rest_until(now))
        return after

    async def _remove_dead(self, snapshot: Snapshot) -> Snapshot:
        """Remove dead workers and return a snapshot without them."""
        grace_over = time.monotonic() >= self._grace_until
        dead = [
            name for name in snapshot.dead_workers()
            if name != self.name and (grace_over or snapshot.workers[name].expires >= snapshot.now)
        ]  # fmt: skip
        for name in dead:
            await snapshot.swap(self._ledger, _removal(name, snapshot))
            snapshot = await self.snapshot()
        return snapshot

    async def _start_turn(self, shard: Shard, snapshot: Snapshot) -> bool:
        """Start a shard's turn; return False if another worker was faster."""
        worker = snapshot.workers.get(self.name)
        if worker is None:
            return False
        started = replace(shard, turns=shard.turns + 1)
        after: dict[Key, Row | None] = {
            Turn.key(shard.site): Turn(shard.name, self.name, snapshot.now, snapshot.now),
            Shard.key(shard.name): started,
            # another worker may be removing this one, with the turns that it has read
            Worker.key(self.name): replace(worker, expires=snapshot.now + self._ttl),
        }
        if not await snapshot.swap(self._ledger, after):
            return False
        self.shards[shard.name] = started
        return True


def _with_progress(shard: Shard, progress: Progress) -> Shard:
    """Add the progress of a turn to the shard as of the turn's start."""
    return replace(
        shard,
        pages=shard.pages + progress.pages,
        relevant=shard.relevant + progress.relevant,
        articles=shard.articles + progress.articles,
        tried={**shard.tried, **progress.tried},
    )


def _with_outcome(
    shard: Shard, outcome: TurnOutcome, reason: str, now: float, seconds: float
) -> Shard:
    """Return a shard after its turn."""
    served = shard.served if outcome is TurnOutcome.INTERRUPTED else now
    shard = replace(shard, served=served, seconds=shard.seconds + seconds, reason=reason)
    if outcome is TurnOutcome.FAILED:
        return _failed(shard, not_before=now + _RETRY_DELAY * 2**shard.failures)
    states = {TurnOutcome.DONE: State.DONE, TurnOutcome.NOT_CRAWLABLE: State.FAILED}
    return replace(shard, state=states.get(outcome, State.WAITING), failures=0)


def _failed(shard: Shard, **changes: Any) -> Shard:  # noqa: ANN401 - fields of a shard
    """Count a failure of a turn."""
    failures = shard.failures + 1
    state = State.FAILED if failures >= MAX_FAILURES else State.WAITING
    return replace(shard, failures=failures, state=state, **changes)


def _removal(name: str, snapshot: Snapshot) -> dict[Key, Row | None]:
    """Return the rows without a worker: its sites are free, each with its last ``rest``."""
    after: dict[Key, Row | None] = {Worker.key(name): None}
    for site, turn in snapshot.turns_of(name).items():
        after[Turn.key(site)] = Turn(rest=turn.rest)
        if shard := snapshot.shards.get(turn.shard):
            # without a delay, since the shard is rarely the cause of its worker's death
            after[Shard.key(shard.name)] = _failed(shard, reason="worker died")
    return after
