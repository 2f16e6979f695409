"""Scheduling of turns from a snapshot of all rows of tasks. No I/O here.

One crawler a site, across tasks. A site's turn goes to the shard that has waited longest for it, so
that none starves. Of the free sites, the task with the fewest current turns comes first, so that a
task with a hundred sites does not push one with a single site aside.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from topiccrawl.addons.tasks.records import (
    SHARDS,
    TASKS,
    TURNS,
    WORKERS,
    Shard,
    State,
    Task,
    Turn,
    Worker,
)
from topiccrawl.storage.control import KIND as ORDERS
from topiccrawl.storage.control import parse_order
from topiccrawl.storage.identity import is_dead
from topiccrawl.storage.ledger import CrawlOrder, Rows

if TYPE_CHECKING:
    from collections.abc import Mapping


KINDS = (TASKS, SHARDS, TURNS, WORKERS, ORDERS)


@dataclass(frozen=True)
class Board:
    """Snapshot of all rows.

    Attributes:
        tasks: By id.
        shards: By name.
        turns: By site.
        workers: By name.
        orders: By task id, and by task id and site (``7.a.test``).
        now: When they were read, seconds since the epoch.
    """

    tasks: Mapping[str, Task]
    shards: Mapping[str, Shard]
    turns: Mapping[str, Turn]
    workers: Mapping[str, Worker]
    orders: Mapping[str, CrawlOrder]
    now: float

    @classmethod
    def of(cls, rows: Rows, now: float) -> Board:
        """Return the board of some rows."""
        orders = {key.removeprefix("task-"): parse_order(row) for key, row in rows[ORDERS].items()}
        return cls(
            {name: Task.read(text) for name, text in rows[TASKS].items()},
            {name: Shard.read(text) for name, text in rows[SHARDS].items()},
            {name: Turn.read(text) for name, text in rows[TURNS].items()},
            {name: Worker.read(text) for name, text in rows[WORKERS].items()},
            orders, now,
        )  # fmt: skip

    def order(self, task: str) -> CrawlOrder:
        """Return the order given for a task."""
        return self.orders.get(task) or CrawlOrder()

    def order_of(self, shard: Shard) -> CrawlOrder:
        """Return the order of a shard: its task's, combined with that of its crawl (``crawl_of``).

        A pause of either holds, speeds are multiplied; only whole tasks are cancelled.
        """
        task = self.order(shard.task)
        own = self.orders.get(f"{shard.task}.{shard.site}") or CrawlOrder()
        paused, speed = task.paused or own.paused, task.speed * own.speed
        return replace(own, paused=paused, speed=speed, cancelled=task.cancelled)

    def chosen(self, shard: Shard) -> str:
        """Return the worker that the operator chose for a shard; "" for none, or one that left."""
        worker = self.order_of(shard).worker
        return worker if worker in self.workers else ""

    def dead(self) -> list[str]:
        """Return the workers that timed out, or whose process is gone."""
        return [
            name for name, worker in self.workers.items()
            if worker.expires < self.now or is_dead(worker.identity)
        ]  # fmt: skip

    def pages(self, task: str) -> int:
        """Return the pages of all sites of a task so far."""
        return sum(shard.pages for shard in self.shards.values() if shard.task == task)

    def room(self, shard: Shard) -> int | None:
        """Return the pages that a shard may still fetch under its task's bounds; None: no bound."""
        task = self.tasks[shard.task]
        rooms = [task.site_pages - shard.pages] if task.site_pages else []
        if task.pages:
            rooms.append(task.pages - self.pages(task.id))
        return max(0, min(rooms)) if rooms else None

    def open(self, task: str) -> bool:
        """Return whether a task is to be served, now or after a pause."""
        known = self.tasks.get(task)
        if known is None or self.order(task).cancelled:
            return False
        return not known.pages or self.pages(task) < known.pages

    def wanting(self) -> list[Shard]:
        """Return the shards that would take a turn now if their sites were free."""
        held = {turn.shard for turn in self.turns.values()}
        served = {task for task in self.tasks if self.open(task)}
        return [
            shard for name, shard in self.shards.items()
            if shard.state == State.WAITING and shard.task in served and name not in held
            and shard.not_before <= self.now and not self.order_of(shard).paused
        ]  # fmt: skip

    def next(self, worker: str = "") -> list[Shard]:
        """Return the next shard of each free site; tasks with the fewest turns first.

        Args:
            worker: Leave out shards that the operator chose another one for; "": none.
        """
        first: dict[str, Shard] = {}
        for shard in self.wanting():
            turn = self.turns.get(shard.site)
            if turn is not None and (turn.shard or turn.rest > self.now):
                continue
            if worker and not self._startable(shard, worker):
                continue
            known = first.get(shard.site)
            if known is None or _wait(shard) < _wait(known):
                first[shard.site] = shard
        running = Counter(turn.task for turn in self.turns.values() if turn.shard)
        found = [one for one in first.values() if not worker or self.chosen(one) in {"", worker}]
        return sorted(found, key=lambda one: (not self.chosen(one), running[one.task], *_wait(one)))

    def should_yield(self, shard: Shard) -> bool:
        """Return whether a turn past its time should end: a shard waits for its site or slot."""
        here = self.turns.get(shard.site, Turn()).worker
        rivals = [other for other in self.wanting() if other.site == shard.site]
        if any(self._startable(other, here) for other in rivals):
            return True
        waiting = self.next()
        if not self._room(here) and any(self.chosen(other) == here for other in waiting):
            return True
        return bool(waiting) and not any(map(self._room, self.workers))

    def _startable(self, shard: Shard, worker: str) -> bool:
        """Return whether this worker may take a shard, or the one chosen for it has a free slot."""
        chosen = self.chosen(shard)
        return chosen in {"", worker} or self._room(chosen)

    def _room(self, worker: str) -> bool:
        """Return whether a worker has a free slot."""
        slots = self.workers[worker].slots if worker in self.workers else 0
        return sum(t.worker == worker and bool(t.shard) for t in self.turns.values()) < slots

    def is_shared(self, shard: Shard) -> bool:
        """Return whether another task has more to do at a shard's site."""
        return any(
            other.site == shard.site and other.task != shard.task and self.open(other.task)
            for other in self.shards.values()
            if other.state == State.WAITING
        )

    def over(self, task: str) -> bool:
        """Return whether nothing is left to do for a task."""
        if not self.open(task):
            return True
        states = [shard.state for shard in self.shards.values() if shard.task == task]
        return all(state in {State.DONE, State.FAILED} for state in states)

    def by_task(self) -> Mapping[str, list[Shard]]:
        """Return the shards of each task, ordered by name."""
        found: defaultdict[str, list[Shard]] = defaultdict(list)
        for name in sorted(self.shards):
            found[self.shards[name].task].append(self.shards[name])
        return found


def _wait(shard: Shard) -> tuple[float, str]:
    """Return the sort key of a shard: the one that has waited longest comes first."""
    return shard.served, shard.name
