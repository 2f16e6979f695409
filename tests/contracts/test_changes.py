"""Tests of the log of topic changes, over each storage."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from topiccrawl.storage.changes import ChangeLog, TopicChange
from topiccrawl.storage.sqlite import SqliteStorage

if TYPE_CHECKING:
    from pathlib import Path

    from topiccrawl.storage.contract import Storage

OWN = {"足球": 1.0}


def change(number: int, topic: str = "足球", frontier: str = "/f/a", **terms: float) -> TopicChange:
    reason = f"because {number}"
    return TopicChange(
        topic, frontier, number, 10.0 * number, "words", reason, 20, OWN, OWN | terms, 0.05, None
    )


def test_a_folder_without_changes_stays_empty(tmp_path: Path) -> None:
    log = ChangeLog(SqliteStorage(tmp_path))
    assert log.all() == []
    assert log.last("足球", "/f/a") is None
    log.forget("足球", "/f/a")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def log(storage: Storage) -> ChangeLog:
    return ChangeLog(storage)


def test_changes_are_read_back_in_order(log: ChangeLog) -> None:
    first, second, other = change(1), change(2, 中超=0.2), change(1, "汽车", "/f/b")
    for made in (first, second, other):
        log.add(made, {"pages": made.number})
    assert log.all("足球") == [first, second]
    assert [one for one in log.all() if one.topic == "足球"] == [first, second]
    assert other in log.all()
    assert log.last("足球", "/f/a") == (second, {"pages": 2})
    assert log.last("足球", "/f/b") is None


def test_restarted_crawl_keeps_changes_but_not_learner_state(log: ChangeLog) -> None:
    log.add(change(1), {})
    log.add(change(1, "汽车", "/f/b"), {})
    log.forget("足球", "/f/a")
    assert log.last("足球", "/f/a") is None
    assert [found.frontier for found in log.all("足球")] == ["/f/a#"]
    assert log.last("汽车", "/f/b") is not None
