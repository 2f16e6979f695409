"""Tests of several processes that store the same stories in one MongoDB."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.mongo_server import database_uri
from tests.unit.storage.writers import stored, writing
from tests.waiting import PATIENCE

if TYPE_CHECKING:
    from pathlib import Path

STORIES = 40


def test_nodes_store_each_story_once_if_one_is_killed(mongo_uri: str, tmp_path: Path) -> None:
    uri = database_uri(mongo_uri, tmp_path)
    with (
        writing("mongo", uri, "one", STORIES) as first,
        writing("mongo", uri, "two", STORIES) as second,
        writing("mongo", uri, "three", STORIES) as dying,
    ):
        assert dying.stdout is not None
        dying.stdout.readline()
        dying.kill()
        lines = [
            line
            for node in (first, second)
            for line in node.communicate(timeout=PATIENCE)[0].split()
        ]
    assert [first.returncode, second.returncode] == [0, 0]
    assert lines.count("new") + lines.count("reprint") == 2 * STORIES
    articles, counts = stored("mongo", uri)
    assert counts["articles"] == STORIES
    assert len({article.digest for article in articles}) == STORIES
    assert all({"one", "two"} <= set(article.topics) for article in articles)
