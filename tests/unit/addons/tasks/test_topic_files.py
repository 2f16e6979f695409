"""Tests of tasks whose topic is the name of a file: workers without the file do not crawl."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from scrapy.settings import Settings

from topiccrawl.addons.tasks.records import Shard, Task, TaskSpec, TurnOutcome
from topiccrawl.addons.tasks.service import TaskService
from topiccrawl.addons.tasks.work.shardcrawl import ShardCrawl
from topiccrawl.storage.ledger import LocalLedger
from topiccrawl.topics.topic import named_file

if TYPE_CHECKING:
    from pathlib import Path


def created(folder: Path, topic: str) -> Task:
    service = TaskService(LocalLedger(folder / "data"))
    return asyncio.run(service.create(TaskSpec("topic", {"topic": topic}, ("a.test",)))).task


async def turn(folder: Path, task: Task) -> tuple[TurnOutcome, str]:
    """Return the outcome of a turn whose crawl cannot start, since it has no spiders."""
    settings = Settings({"TOPICCRAWL_DATA_DIR": str(folder / "data"), "SPIDER_MODULES": []})
    crawl, ended = (
        ShardCrawl(settings, task, Shard("1", "a.test", (), ()), None, bool),
        asyncio.Event(),
    )
    crawl.start(ended.set)
    await ended.wait()
    return crawl.outcome()


@pytest.mark.parametrize("topic", ["cars", "电动车辆"])
def test_worker_without_the_topic_file_does_not_crawl_for_its_name(
    topic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "topics" / "cars.toml"
    file.parent.mkdir()
    file.write_text('name = "电动车辆"\nterms = ["电动车"]\n', "utf-8")
    task = created(tmp_path, topic)
    assert "topic file" not in asyncio.run(turn(tmp_path, task))[1]
    file.unlink()
    outcome, reason = asyncio.run(turn(tmp_path, task))
    assert outcome is TurnOutcome.NOT_CRAWLABLE
    assert f"the worker has no topic file {topic!r}" in reason
    words = created(tmp_path, topic)
    assert "topic file" not in asyncio.run(turn(tmp_path, words))[1]


def test_topic_file_without_a_name_is_not_that_of_a_template(tmp_path: Path) -> None:
    (tmp_path / "empty.toml").write_text('name = ""\n', "utf-8")
    (tmp_path / "list.toml").write_text("name = []\n", "utf-8")
    assert named_file("", tmp_path) is None
    assert named_file("电动车辆", tmp_path) is None
