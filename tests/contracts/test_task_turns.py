"""Tests of turns at sites, over both ledgers: one worker per site, fair order, takeover."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from typing_extensions import override

from tests.waiting import came, soon
from topiccrawl.addons.tasks.records import (
    Progress,
    Shard,
    State,
    TaskSpec,
    Turn,
    TurnOutcome,
)
from topiccrawl.addons.tasks.service import TaskService
from topiccrawl.addons.tasks.session import MAX_FAILURES, WorkerSession
from topiccrawl.errors import ConfigurationError, StateError, StorageAwayError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.contracts.conftest import OnLedger
    from topiccrawl.storage.ledger import Key, Ledger, Rows

SPEC = TaskSpec("topic", {"topic": "足球"}, ("a.test",))
NOTHING: dict[str, Progress] = {}
LEFT = TurnOutcome.UNFINISHED


async def joined(ledger: Ledger, slots: int = 1, ttl: float = 1000.0) -> WorkerSession:
    turns = WorkerSession(ledger, slots, ttl)
    assert await turns.heartbeat(NOTHING) is not None
    return turns


async def claimed(turns: WorkerSession) -> str:
    found = await turns.claim()
    return found[0].name if found else ""


def test_site_has_one_worker_and_alternates_between_tasks(on_ledger: OnLedger) -> None:
    async def check(ledger: Ledger) -> None:
        service = TaskService(ledger)
        await service.create(SPEC)
        await service.create(SPEC)
        one, two = await joined(ledger), await joined(ledger)
        served = []
        for _ in range(3):
            served.append(await claimed(one))
            assert await claimed(two) == ""
            snapshot = await service.snapshot()
            assert snapshot.should_yield(snapshot.shards[served[-1]])
            assert await one.release(served[-1], Progress(pages=5), LEFT, "turn_over")
            served.append(await claimed(two))
            assert await two.release(served[-1], Progress(pages=5), LEFT, "turn_over")
        assert served == ["1/a.test", "2/a.test"] * 3
        assert [state.pages for state in await service.all()] == [15, 15]

    on_ledger(check)


def test_a_site_does_not_wait_for_a_chosen_worker_without_a_free_slot(on_ledger: OnLedger) -> None:
    async def check(ledger: Ledger) -> None:
        service = TaskService(ledger)
        await service.create(replace(SPEC, sites=("z.test",)))
        await service.create(SPEC)
        await service.create(SPEC)
        busy, idle = await joined(ledger), await joined(ledger, slots=1)
        assert await claimed(busy) == "1/z.test"
        await service.assign("2", "a.test", busy.name)
        assert await claimed(idle) == "3/a.test"
        snapshot = await service.snapshot()
        assert not snapshot.should_yield(snapshot.shards["3/a.test"]), "the other cannot begin"
        await busy.release("1/z.test", Progress(), TurnOutcome.DONE, "finished")
        snapshot = await service.snapshot()
        assert snapshot.should_yield(snapshot.shards["3/a.test"])

    on_ledger(check)


def test_interrupted_turn_keeps_its_place(on_ledger: OnLedger) -> None:
    async def check(ledger: Ledger) -> None:
        service = TaskService(ledger)
        await service.create(SPEC)
        await service.create(SPEC)
        turns = await joined(ledger)
        assert await claimed(turns) == "1/a.test"
        await turns.release("1/a.test", Progress(pages=1), TurnOutcome.INTERRUPTED, "paused")
        assert await claimed(turns) == "1/a.test"
        await turns.release("1/a.test", Progress(pages=5), LEFT, "turn_over")
        assert await claimed(turns) == "2/a.test"

    on_ledger(check)


def test_task_of_many_sites_does_not_block_a_task_of_one_site(on_ledger: OnLedger) -> None:
    async def check(ledger: Ledger) -> None:
        service = TaskService(ledger)
        await service.create(replace(SPEC, sites=tuple(f"{i}.test" for i in "abcdef")))
        await service.create(replace(SPEC, sites=("z.test",)))
        turns = await joined(ledger, slots=3)
        names = [await claimed(turns) for _ in range(4)]
        assert names == ["1/a.test", "2/z.test", "1/b.test", ""]
        snapshot = await service.snapshot()
        assert snapshot.should_yield(snapshot.shards["2/z.test"]), "others wait for a slot"

    on_ledger(check)


def test_a_site_goes_to_the_worker_that_the_operator_chose(on_ledger: OnLedger) -> None:
    async def check(ledger: Ledger) -> None:
        service = TaskService(ledger)
        await service.create(replace(SPEC, sites=("a.test", "b.test")))
        one, two = await joined(ledger, slots=2), await joined(ledger)
        assert await claimed(one) == "1/a.test"
        assert await claimed(two) == "1/b.test"
        state = await service.assign("1", "a.test", two.name)
        assert (state.sites[0].worker, state.sites[0].chosen) == (one.name, two.name)
        snapshot = await service.snapshot()
        assert snapshot.assigned_worker(snapshot.shards["1/a.test"]) == two.name, (
            "one ends its turn"
        )
        await one.release("1/a.test", Progress(), TurnOutcome.INTERRUPTED, "moved")
        assert await claimed(one) == ""
        assert await claimed(two) == "", "it has one slot"
        snapshot = await service.snapshot()
        assert snapshot.should_yield(snapshot.shards["1/b.test"])
        await two.release("1/b.test", Progress(), LEFT, "turn_over")
        assert await claimed(two) == "1/a.test"
        assert await claimed(one) == "1/b.test"
        await two.leave()
        await one.release("1/b.test", Progress(), TurnOutcome.DONE, "finished")
        assert await claimed(one) == "1/a.test", "the choice ends with its worker"
        with pytest.raises(StateError, match="no worker"):
            await service.assign("1", "a.test", two.name)

    on_ledger(check)


def test_site_does_not_rest_by_a_clock_that_was_days_ahead(on_ledger: OnLedger) -> None:
    async def check(ledger: Ledger) -> None:
        await TaskService(ledger).create(SPEC)
        worker = await joined(ledger)
        turn = Turn(rest=await ledger.now() + 3 * 86_400)
        assert await ledger.swap({Turn.key("a.test"): None}, {Turn.key("a.test"): turn.text()})
        assert await claimed(worker) == "1/a.test"

    on_ledger(check)


def test_worker_that_claims_while_it_is_removed_keeps_its_row(on_ledger: OnLedger) -> None:
    async def check(ledger: Ledger) -> None:
        service = TaskService(ledger)
        await service.create(SPEC)
        late, other = await joined(ledger, ttl=0.5), await joined(ledger)
        await asyncio.sleep(0.6)  # timed out, but its claim is on its way
        seen = await other.snapshot()
        assert late.name in seen.dead_workers()
        late.safe_until = float("inf")
        late._ttl = 1000.0
        assert await claimed(late) == "1/a.test"
        assert late.name in (await other._remove_dead(seen)).workers
        assert await late.heartbeat(NOTHING) is not None
        assert await late.release("1/a.test", Progress(), TurnOutcome.DONE, "finished")

    on_ledger(check)


def test_sites_of_a_dead_worker_are_free_after_their_delay(
    on_ledger: OnLedger,
) -> None:
    async def check(ledger: Ledger) -> None:
        service = TaskService(ledger)
        await service.create(SPEC)
        dead, other = await joined(ledger, ttl=3.0), await joined(ledger, ttl=1000)
        name = await claimed(dead)
        rest = await ledger.now() + 5.0
        assert await dead.heartbeat({name: Progress(pages=7, rest=rest)}) is not None
        assert await claimed(other) == ""
        await soon(lambda: not dead.may_fetch())  # before another worker takes over
        assert await came(lambda: claimed(other)) == name
        assert await ledger.now() >= rest, "the site rests"
        assert [worker.name for worker in await service.workers()] == [other.name]
        assert await dead.heartbeat({name: Progress(pages=9)}) is None
        assert dead.shards == {}
        assert not await dead.release(name, Progress(pages=9), TurnOutcome.DONE, "finished")
        state = await service.show("1")
        assert (state.pages, state.state) == (7, "running")

    on_ledger(check)


def test_a_worker_that_leaves_frees_its_sites_at_once(on_ledger: OnLedger) -> None:
    async def check(ledger: Ledger) -> None:
        service = TaskService(ledger)
        await service.create(SPEC)
        one = await joined(ledger)
        name = await claimed(one)
        await one.leave()
        assert await claimed(await joined(ledger)) == name

    on_ledger(check)


def test_paused_cancelled_and_finished_tasks_get_no_turns(on_ledger: OnLedger) -> None:
    async def check(ledger: Ledger) -> None:
        service = TaskService(ledger)
        await service.create(replace(SPEC, pages=10))
        turns = await joined(ledger)
        assert (await service.pause("1")).state == "paused"
        assert await claimed(turns) == ""
        await service.resume("1")
        name = await claimed(turns)
        await turns.release(name, Progress(pages=4), LEFT, "turn_over")
        found = await turns.claim()
        assert found is not None
        assert found[1].remaining_pages(found[0]) == 6
        await turns.release(name, Progress(pages=6), LEFT, "turn_over")
        assert await claimed(turns) == ""
        assert (await service.show("1")).state == "finished"
        await service.create(SPEC)
        assert (await service.cancel("2")).state == "cancelled"
        assert await claimed(turns) == ""
        await service.remove("2")
        with pytest.raises(StateError, match="no task '2'"):
            await service.show("2")
        with pytest.raises(StateError, match="no task '2'"):
            await service.pause("2")
        assert "2" not in (await service.snapshot()).orders
        await service.create(SPEC)
        assert [state.task.id for state in await service.all()] == ["1", "3"]
        with pytest.raises(StateError, match="cancel it first"):
            await service.remove("3")

    on_ledger(check)


def test_site_with_all_its_pages_gets_no_further_turn(on_ledger: OnLedger) -> None:
    async def check(ledger: Ledger) -> None:
        service = TaskService(ledger)
        await service.create(replace(SPEC, site_pages=6))
        turns = await joined(ledger)
        name = await claimed(turns)
        await turns.release(name, Progress(pages=6), LEFT, "turn_over")
        assert await claimed(turns) == ""
        state = await service.show("1")
        assert (state.state, state.sites[0].state) == ("finished", "done")

    on_ledger(check)


def test_failing_site_is_delayed_then_failed_and_can_be_resumed(
    on_ledger: OnLedger,
) -> None:
    async def check(ledger: Ledger) -> None:
        service = TaskService(ledger)
        await service.create(SPEC)
        turns = await joined(ledger)
        for _ in range(MAX_FAILURES):
            name = await claimed(turns)
            assert await turns.release(name, Progress(), TurnOutcome.FAILED, "seeds_unreachable")
            assert await claimed(turns) == "", "not at once"
            text = await ledger.get("shards", name)
            assert text is not None
            now = (await service.snapshot()).shards[name]
            due = replace(now, not_before=0.0).text()
            assert await ledger.swap({("shards", name): text}, {("shards", name): due})
        assert (await service.show("1")).state == "failed"
        assert (await service.resume("1")).state == "waiting"
        assert await claimed(turns) == "1/a.test"

    on_ledger(check)


class Lossy:
    """Ledger that can lose the answer of a completed swap."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.lose = False

    async def get(self, kind: str, name: str) -> str | None:
        return await self.ledger.get(kind, name)

    async def read(self, *kinds: str) -> Rows:
        return await self.ledger.read(*kinds)

    async def now(self) -> float:
        return await self.ledger.now()

    async def close(self) -> None:
        await self.ledger.close()

    async def swap(self, before: Mapping[Key, str | None], after: Mapping[Key, str | None]) -> bool:
        done = await self.ledger.swap(before, after)
        if self.lose:
            self.lose = False
            raise StorageAwayError("lost")
        return done


class Overtaken(Lossy):
    """Ledger in which another process writes ``first`` before the next swap."""

    first: Shard | None = None

    @override
    async def swap(self, before: Mapping[Key, str | None], after: Mapping[Key, str | None]) -> bool:
        shard, self.first = self.first, None
        if shard is not None:
            await write(self.ledger, shard)
        return await self.ledger.swap(before, after)


async def write(ledger: Ledger, shard: Shard) -> None:
    key = ("shards", shard.name)
    assert await ledger.swap({key: await ledger.get(*key)}, {key: shard.text()})


def test_failed_site_is_resumed_though_another_process_changes_it(on_ledger: OnLedger) -> None:
    async def check(ledger: Ledger) -> None:
        between = Overtaken(ledger)
        service = TaskService(between)
        await service.create(SPEC)
        shard = (await service.snapshot()).shards["1/a.test"]
        failed = replace(shard, state=State.FAILED, failures=MAX_FAILURES)
        await write(ledger, failed)
        between.first = replace(failed, pages=7)
        state = await service.resume("1")
        assert (state.state, state.pages) == ("waiting", 7)

    on_ledger(check)


def test_worker_ends_a_turn_that_the_ledger_lost(on_ledger: OnLedger) -> None:
    async def check(ledger: Ledger) -> None:
        await TaskService(ledger).create(SPEC)
        one, other = await joined(ledger), await joined(ledger)
        before = (await ledger.read("turns"))["turns"]
        name = await claimed(one)
        after = (await ledger.read("turns"))["turns"]
        changed = {key for key in {*before, *after} if before.get(key) != after.get(key)}
        assert await ledger.swap(
            {("turns", key): after.get(key) for key in changed},
            {("turns", key): before.get(key) for key in changed},
        )  # a restored file, or a server that lost its last writes
        assert await claimed(other) == name
        await one.heartbeat(NOTHING)
        assert name not in one.shards
        assert name in other.shards

    on_ledger(check)


def test_lost_answer_loses_no_turn_and_blocks_no_site(on_ledger: OnLedger) -> None:
    async def check(ledger: Ledger) -> None:
        lossy, service = Lossy(ledger), TaskService(ledger)
        await service.create(SPEC)
        turns = await joined(lossy)

        lossy.lose = True
        with pytest.raises(StorageAwayError):
            await turns.claim()
        assert (await service.show("1")).state == "running", "it was taken, but we do not know"
        assert await turns.heartbeat(NOTHING) is not None
        name = await claimed(turns)
        assert name == "1/a.test"

        lossy.lose = True
        with pytest.raises(StorageAwayError):
            await turns.heartbeat({name: Progress(pages=3)})
        assert await turns.heartbeat({name: Progress(pages=4)}) is not None
        assert (await service.show("1")).pages == 4

        lossy.lose = True
        with pytest.raises(StorageAwayError):
            await turns.release(name, Progress(pages=5), LEFT, "turn_over")
        assert not await turns.release(name, Progress(pages=5), LEFT, "turn_over")
        assert await turns.heartbeat(NOTHING) is not None
        assert (await service.show("1")).pages == 5
        assert await claimed(turns) == name

    on_ledger(check)


def test_concurrent_workers_share_no_site_and_finish_all(on_ledger: OnLedger) -> None:
    async def check(ledger: Ledger) -> None:
        service = TaskService(ledger)
        for sites in (("a.test", "b.test"), ("b.test", "c.test"), ("a.test", "c.test", "d.test")):
            await service.create(replace(SPEC, sites=sites))
        busy: set[str] = set()
        turns_had: dict[str, int] = {}

        async def work() -> None:
            turns = await joined(ledger, slots=2)
            while sum(turns_had.values()) < 7 * 3:
                found = await turns.claim()
                if found is None:
                    await asyncio.sleep(0.002)
                    continue
                shard, _ = found
                assert shard.site not in busy
                busy.add(shard.site)
                await asyncio.sleep(0.001)
                busy.remove(shard.site)
                had = turns_had[shard.name] = turns_had.get(shard.name, 0) + 1
                ended = TurnOutcome.DONE if had == 3 else TurnOutcome.UNFINISHED
                assert await turns.release(shard.name, Progress(pages=1), ended, "")

        await asyncio.gather(*(work() for _ in range(3)))
        states = await service.all()
        assert [(state.state, state.pages) for state in states] == [
            ("finished", 6), ("finished", 6), ("finished", 9),
        ]  # fmt: skip

    on_ledger(check)


@pytest.mark.parametrize("sites", [(), ("",), ("ftp://a.test/",), ("a b",)])
def test_invalid_site_is_refused(sites: tuple[str, ...], on_ledger: OnLedger) -> None:
    async def check(ledger: Ledger) -> None:
        with pytest.raises(ConfigurationError, match="site"):
            await TaskService(ledger).create(replace(SPEC, sites=sites))
        assert await TaskService(ledger).all() == []

    on_ledger(check)
