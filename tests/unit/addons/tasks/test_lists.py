"""Tests of the lists of tasks at a terminal."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from topiccrawl.addons.tasks.commands.tasks import lines_of
from topiccrawl.addons.tasks.records import TaskSpec
from topiccrawl.addons.tasks.service import TaskService
from topiccrawl.messages import choose_language
from topiccrawl.storage.ledger import LocalLedger

if TYPE_CHECKING:
    from pathlib import Path


def test_states_are_in_the_language_of_the_user(tmp_path: Path) -> None:
    service = TaskService(LocalLedger(tmp_path))
    made = asyncio.run(service.create(TaskSpec("topic", {"topic": "足球"}, ("a.test",))))
    assert "  waiting  " in lines_of(made, full=True)[0]
    choose_language("zh")
    try:
        task, site = lines_of(made, full=True)
    finally:
        choose_language("")
    assert "  等待  足球" in task
    assert "a.test                   等待     " in site
