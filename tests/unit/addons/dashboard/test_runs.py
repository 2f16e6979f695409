"""Tests of run records: storage, retrieval, and the merge of the nodes of one crawl."""

from __future__ import annotations

import asyncio
import json
import os
import time
from typing import TYPE_CHECKING

import pytest
import redis.asyncio

from tests.unit.addons.dashboard.states import report, state
from topiccrawl.addons.dashboard.merge import crawls, merged_state, overview
from topiccrawl.addons.dashboard.metrics import exposition, families
from topiccrawl.addons.redis.ledger import SharedRuns
from topiccrawl.errors import StorageError
from topiccrawl.storage.runs import EMPTY, MAX_RECORDS, STALE_SECONDS, LocalRuns

if TYPE_CHECKING:
    from pathlib import Path

    from topiccrawl.storage.runs import Runs


@pytest.fixture(params=["folder", "redis"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Location of the run records: a folder or the URL of Redis."""
    if request.param == "folder":
        return str(tmp_path)
    return str(request.getfixturevalue("redis_url"))


def runs_in(store: str) -> Runs:
    if store.startswith("redis"):
        return SharedRuns(redis.asyncio.Redis.from_url(store))
    return LocalRuns(store)


def test_last_record_of_each_run_is_read_newest_run_first(store: str) -> None:
    async def check() -> None:
        runs = runs_in(store)
        await runs.put(state("a:1", began=1.0))
        await runs.put(state("b:2", began=2.0))
        await runs.put(state("a:1", began=1.0, seconds=99.0))
        found = await runs.all()
        assert [one.state["run"]["node"] for one in found] == ["b:2", "a:1"]
        assert found[1].state == state("a:1", began=1.0, seconds=99.0)
        assert all(0 <= one.age < 5 and one.live for one in found)
        await runs.close()

    asyncio.run(check())


def test_folder_keeps_the_newest_runs(tmp_path: Path) -> None:
    async def check() -> None:
        runs = LocalRuns(tmp_path)
        for number in range(MAX_RECORDS + 3):
            await runs.put(state(began=1000.0 + number))
        found = await runs.all()
        assert [one.state["run"]["began"] for one in found][-1] == 1003.0

    asyncio.run(check())


def test_live_run_is_kept_among_many_later_runs(tmp_path: Path) -> None:
    async def check() -> None:
        runs = LocalRuns(tmp_path)
        for number in range(MAX_RECORDS):
            await runs.put(state(began=1000.0 + number))
            past = time.time() - 60  # the last update is old
            os.utime(runs.folder / f"{1000 + number}-one:1.json", (past, past))
        await runs.put(state(began=1.0))
        found = await runs.all()
        assert len(found) == MAX_RECORDS
        assert found[-1].state["run"]["began"] == 1.0

    asyncio.run(check())


def test_run_without_recent_records_is_not_live(tmp_path: Path) -> None:
    runs = LocalRuns(tmp_path)
    asyncio.run(runs.put(state()))
    (path,) = runs.folder.glob("*.json")
    past = time.time() - STALE_SECONDS - 1
    os.utime(path, (past, past))
    assert not runs.reports()[0].live


def test_folder_that_cannot_be_written_is_named_with_a_remedy(tmp_path: Path) -> None:
    runs = LocalRuns(tmp_path)
    runs.folder.write_bytes(b"")  # root can write into all folders
    with pytest.raises(StorageError, match=r"runs: cannot be written: .*; allow writing there"):
        asyncio.run(runs.put(state()))


BROKEN = (
    b"{", b"\xff", b"[]", b"1", b"{}", b"[" * 100_000, b'{"run": {}}', b'{"run": []}',
    json.dumps(state(finished="x")).encode(), json.dumps({**state(), "totals": {}}).encode(),
)  # fmt: skip


@pytest.mark.parametrize("text", BROKEN, ids=range(len(BROKEN)))
def test_invalid_record_is_logged_and_skipped(
    tmp_path: Path, text: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    runs = LocalRuns(tmp_path)
    asyncio.run(runs.put(state("a:1")))
    (runs.folder / "folder.json").mkdir()
    (runs.folder / "x.json").write_bytes(text)
    for _ in range(2):
        assert [one.state["run"]["node"] for one in runs.reports()] == ["a:1"]
    assert caplog.text.count("x.json is skipped: not a run record") == 1


def test_invalid_record_in_redis_is_logged_and_skipped(
    redis_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def check() -> None:
        runs = runs_in(redis_url)
        await runs.put({"run": {"id": "old"}})
        await runs.put(state("a:1"))
        assert [one.state["run"]["node"] for one in await runs.all()] == ["a:1"]
        await runs.close()

    asyncio.run(check())
    assert "topiccrawl:run:old is skipped" in caplog.text


def test_nodes_of_one_crawl_are_merged() -> None:
    found = merged_state(
        [report(node="b:2", began=105.0), report(node="a:1"), report(frontier="g")], "f"
    )
    assert found["totals"]["pages"] == 20
    assert found["totals"]["recent"] == 0.4
    assert found["series"]["points"][-1][:3] == [15.0, 20, 8]
    assert found["run"]["began"] == 100.0
    assert found["run"]["finished"] is None
    assert [node["run"]["node"] for node in found["nodes"]] == ["b:2", "a:1"]


def test_ended_crawl_has_its_last_run_and_overlapping_runs() -> None:
    ended = {"finished": 130.0, "seconds": 30.0}
    overlapping = report(99.0, node="a:1", began=101.0, **ended)
    last = report(99.0, node="b:2", began=120.0, finished=125.0)
    before = report(999.0, node="c:3", began=10.0, finished=50.0)
    found = merged_state([last, overlapping, before], "")
    assert {node["run"]["node"] for node in found["nodes"]} == {"a:1", "b:2"}
    assert found["run"]["finished"] == 130.0


def test_list_of_crawls_counts_hosts_that_are_not_listed() -> None:
    found = report()
    host = {"queued": 1, "active": 0, "pages": 1, "worth": 0.5, "failed": 0}
    listed = [{"name": f"{number}.test", **host} for number in range(30)]
    found.state["hosts"] = {"states": {"waiting": 990, "idle": 9}, "list": listed}
    (entry,) = overview([found])
    assert (entry["hosts"], entry["site"]) == (999, "")


def test_host_of_several_nodes_is_listed_once() -> None:
    nodes = [report(node="a:1"), report(node="b:2")]
    for node, queued, pages, worth in zip(nodes, (5, 1), (10, 30), (0.2, 0.6), strict=True):
        host = {"queued": queued, "active": 0, "pages": pages, "worth": worth, "failed": 0}
        node.state["hosts"] = {"states": {}, "list": [{"name": "a.test", **host}]}
    (found,) = merged_state(nodes, "f")["hosts"]["list"]
    assert (found["queued"], found["pages"], found["worth"]) == (6, 40, 0.5)


def test_crawl_waits_only_if_all_its_nodes_wait() -> None:
    waiting = report(node="a:1")
    waiting.state["waiting"] = {"reason": "delays", "seconds": 9.0, "detail": ""}
    assert merged_state([waiting, report(node="b:2")], "")["waiting"]["reason"] == ""
    assert merged_state([waiting], "")["waiting"]["reason"] == "delays"


def test_review_merges_pages_without_links_of_all_nodes() -> None:
    nodes = [report(node="a:1"), report(node="b:2"), report(node="c:3")]
    review: dict[str, object] = {"best": [], "met": {}, "never": [], "seeds": [], "hosts": {}}
    for node, bare in zip(nodes, ([["u", False]], [["u", False], ["v", True]], None), strict=True):
        node.state["review"] = review if bare is None else {**review, "bare": bare}
    assert merged_state(nodes, "f")["review"]["bare"] == [["u", False], ["v", True]]


def test_state_without_runs_is_empty() -> None:
    assert merged_state([], "") == EMPTY
    assert merged_state([report()], "unknown") == EMPTY
    assert crawls([]) == []


def test_crawls_are_listed_with_their_live_nodes() -> None:
    found = crawls([report(node="a:1"), report(node="b:2"), report(99.0, frontier="g")])
    assert [(one["frontier"], one["live"]) for one in found] == [("f", 2), ("g", 0)]


def test_metric_families_of_several_crawls_are_unique() -> None:
    one, two = state(frontier="g"), merged_state([report(node="b:2"), report(node="c:3")], "")
    found = families([one, two])
    assert len({family.name for family in found}) == len(found)
    text, kind = exposition([one, two])
    assert "text/plain" in kind
    lines = text.decode()
    assert 'topiccrawl_pages_total{crawl="f",node="c:3",topic="新能源汽车"} 10.0' in lines
    assert 'topiccrawl_pages_total{crawl="g",node="one:1",topic="新能源汽车"} 10.0' in lines
    assert 'topiccrawl_harvest_ratio{crawl="f",topic="新能源汽车",window="all"} 0.4' in lines


def test_series_of_one_worker_at_two_sites_are_distinct() -> None:
    """Prometheus keeps only one of several samples with equal labels."""
    turns = [report(frontier=f"/data/frontiers/task-1.{name}.test") for name in "ab"]
    states = [merged_state(turns, one.state["run"]["frontier"]) for one in turns]
    lines = [line.rpartition(" ")[0] for line in exposition(states)[0].decode().splitlines()]
    series = [line for line in lines if line.startswith("topiccrawl_")]
    assert len(set(series)) == len(series)
    assert any('crawl="task-1.b.test"' in line for line in series)


def test_label_from_a_page_is_escaped() -> None:
    hostile = state()
    hostile["errors"] = {'a"} evil 1\n': 2}
    text, _ = exposition([hostile])
    assert "\nevil" not in text.decode()
    assert '\\"} evil 1\\n' in text.decode()
