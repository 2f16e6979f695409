"""Snapshot of the rows of all tasks; scheduling of turns.

A site is crawled by one worker at a time, across all tasks. Its next turn goes to the shard that
has waited longest, so that no task starves. Of the free sites, those of the task with the fewest
current turns come first, so that a task with a hundred sites does not block one with a single site.
Only ``Snapshot.read`` and ``Snapshot.swap`` do I/O.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from topiccrawl.addons.tasks.records import Row, Shard, State, Task, Turn, Worker
from topiccrawl.storage.identity import is_dead
from topiccrawl.storage.ledger import ORDERS, CrawlOrder, Key, Ledger, Rows, parse_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

KINDS = (Task.kind, Shard.kind, Turn.kind, Worker.kind, ORDERS)
"""Kinds that a snapshot has."""


@dataclass(frozen=True)
class Snapshot:
    """Snapshot of all rows.

    Attributes:
        tasks: Tasks by id.
        shards: Shards by name.
        turns: Turns by site.
        workers: Workers by name.
        orders: Orders by task id, or by task id and site (``7.a.test``).
        now: Time of the snapshot, seconds since the epoch.
        rows: Texts of all rows.
    """

    tasks: Mapping[str, Task]
    shards: Mapping[str, Shard]
    turns: Mapping[str, Turn]
    workers: Mapping[str, Worker]
    orders: Mapping[str, CrawlOrder]
    now: float
    rows: Rows

    @classmethod
    async def read(cls, ledger: Ledger) -> Snapshot:
        """Read all rows; a shard that has all of its pages is done."""
        rows, now = await ledger.read(*KINDS), await ledger.now()
        tasks, shards = Task.read_all(rows), Shard.read_all(rows)
        shards = {name: _with_limit(one, tasks.get(one.task)) for name, one in shards.items()}
        orders = {key.removeprefix("task-"): parse_order(row) for key, row in rows[ORDERS].items()}
        return cls(tasks, shards, Turn.read_all(rows), Worker.read_all(rows), orders, now, rows)

    async def swap(
        self, ledger: Ledger, after: Mapping[Key, Row | None], also: Iterable[Key] = ()
    ) -> bool:
        """Write rows, or delete those without a value; return False if another process was faster.

        Args:
            ledger: Ledger of the snapshot.
            after: The rows; none of them may have changed since the snapshot.
            also: Further rows that may not have changed.
        """
        before = {(kind, name): self.rows[kind].get(name) for kind, name in (*after, *also)}
        texts = {key: None if row is None else row.text() for key, row in after.items()}
        return await ledger.swap(before, texts)

    def turns_of(self, worker: str) -> dict[str, Turn]:
        """Return the turns of a worker by site."""
        return {site: turn for site, turn in self.turns.items() if turn.worker == worker}

    def order(self, task: str) -> CrawlOrder:
        """Return the order given for a task."""
        return self.orders.get(task) or CrawlOrder()

    def order_of(self, shard: Shard) -> CrawlOrder:
        """Return the order of a shard: its task's, combined with that of its crawl.

        The shard is paused if either order is paused. Speeds are multiplied. Only whole tasks can
        be cancelled.
        """
        task = self.order(shard.task)
        own = self.orders.get(f"{shard.task}.{shard.site}") or CrawlOrder()
        paused, speed = task.paused or own.paused, task.speed * own.speed
        return replace(own, paused=paused, speed=speed, cancelled=task.cancelled)

    def assigned_worker(self, shard: Shard) -> str:
        """Return the worker assigned to a shard; "" if none is, or if it has left."""
        worker = self.order_of(shard).worker
        return worker if worker in self.workers else ""

    def dead_workers(self) -> list[str]:
        """Return the workers that timed out or whose process does not exist."""
        return [
            name for name, worker in self.workers.items()
            if worker.expires < self.now or is_dead(worker.identity)
        ]  # fmt: skip

    def pages(self, task: str) -> int:
        """Return the number of pages fetched for a task so far."""
        return sum(shard.pages for shard in self.shards_of(task))

    def remaining_pages(self, shard: Shard) -> int | None:
        """Return the number of pages that a shard may still fetch; None if there is no limit."""
        task = self.tasks[shard.task]
        limits = [task.site_pages - shard.pages] if task.site_pages else []
        if task.pages:
            limits.append(task.pages - self.pages(task.id))
        return max(0, min(limits)) if limits else None

    def is_open(self, task_id: str) -> bool:
        """Return whether a task may fetch more pages, now or after a pause."""
        task = self.tasks.get(task_id)
        if task is None or self.order(task_id).cancelled:
            return False
        return not task.pages or self.pages(task_id) < task.pages

    def eligible_shards(self) -> list[Shard]:
        """Return the shards that could start a turn now if their sites were free."""
        running = {turn.shard for turn in self.turns.values()}
        open_tasks = {task for task in self.tasks if self.is_open(task)}
        return [
            shard for name, shard in self.shards.items()
            if shard.state == State.WAITING and shard.task in open_tasks and name not in running
            and shard.not_before <= self.now and not self.order_of(shard).paused
        ]  # fmt: skip

    def next(self, worker: str = "") -> list[Shard]:
        """Return the next shard of each free site; tasks with the fewest turns come first.

        Args:
            worker: Name of the asking worker, which excludes shards assigned to other workers;
                "" includes all shards.
        """
        first: dict[str, Shard] = {}
        for shard in self.eligible_shards():
            turn = self.turns.get(shard.site)
            if turn is not None and (turn.shard or turn.rests(self.now)):
                continue
            if worker and not self._can_start(shard, worker):
                continue
            best = first.get(shard.site)
            if best is None or _waiting_since(shard) < _waiting_since(best):
                first[shard.site] = shard
        running = Counter(turn.task for turn in self.turns.values() if turn.shard)
        found = [s for s in first.values() if not worker or self.assigned_worker(s) in {"", worker}]
        return sorted(
            found, key=lambda s: (not self.assigned_worker(s), running[s.task], *_waiting_since(s))
        )

    def should_yield(self, shard: Shard) -> bool:
        """Return whether a turn past its quantum should end: a shard waits for its site or slot."""
        current = self.turns.get(shard.site, Turn()).worker
        rivals = [other for other in self.eligible_shards() if other.site == shard.site]
        if any(self._can_start(other, current) for other in rivals):
            return True
        waiting = self.next()
        assigned_here = any(self.assigned_worker(other) == current for other in waiting)
        if assigned_here and not self._has_free_slot(current):
            return True
        return bool(waiting) and not any(map(self._has_free_slot, self.workers))

    def _can_start(self, shard: Shard, worker: str) -> bool:
        """Return whether a worker may take a shard, or its assigned worker has a free slot."""
        assigned = self.assigned_worker(shard)
        return assigned in {"", worker} or self._has_free_slot(assigned)

    def _has_free_slot(self, worker: str) -> bool:
        """Return whether a worker has a free slot."""
        slots = self.workers[worker].slots if worker in self.workers else 0
        return sum(t.worker == worker and bool(t.shard) for t in self.turns.values()) < slots

    def is_shared(self, shard: Shard) -> bool:
        """Return whether another task still needs the site of a shard."""
        return any(
            other.site == shard.site and other.task != shard.task and self.is_open(other.task)
            for other in self.shards.values()
            if other.state == State.WAITING
        )

    def is_over(self, task: str) -> bool:
        """Return whether a task has ended."""
        if not self.is_open(task):
            return True
        return all(shard.state in {State.DONE, State.FAILED} for shard in self.shards_of(task))

    def shards_of(self, task: str) -> list[Shard]:
        """Return the shards of a task."""
        return [shard for shard in self.shards.values() if shard.task == task]


def _with_limit(shard: Shard, task: Task | None) -> Shard:
    """Return a shard, done if it has all pages of its site: its turn may have ended before that."""
    if task is None or not 0 < task.site_pages <= shard.pages or shard.state != State.WAITING:
        return shard
    return replace(shard, state=State.DONE)


def _waiting_since(shard: Shard) -> tuple[float, str]:
    """Return a sort key that puts the shard that has waited longest first."""
    return shard.served, shard.name
