"""Factories of crawl states and run reports for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from topiccrawl.storage.runs import EMPTY, RunReport

if TYPE_CHECKING:
    from topiccrawl.storage.runs import State


def state(node: str = "one:1", *, frontier: str = "f", began: float = 100.0, **run: Any) -> State:
    """A run of ten pages, four of them on topic."""
    report = {
        "id": f"{began:.0f}-{node}", "node": node, "topic": "新能源汽车", "strategy": "shark-plus",
        "frontier": frontier, "began": began, "seconds": 10.0, "finished": None, "reason": "",
        "version": "0.2.0", **run,
    }  # fmt: skip
    totals = {"pages": 10, "relevant": 4, "articles": 3, "duplicates": 1, "recent": 0.4}
    points = [[0.0, 0, 0, 0.0, 0], [5.0, 5, 3, 0.6, 1], [10.0, 10, 4, 0.4, 3]]
    return {**EMPTY, "run": report, "totals": totals, "series": {"every": 5.0, "points": points}}


def report(age: float = 1.0, node: str = "one:1", **given: Any) -> RunReport:
    """A record of such a run."""
    return RunReport(state(node, **given), age)
