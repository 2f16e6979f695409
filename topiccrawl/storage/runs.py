"""Run records: last reported states of runs, for monitoring by other processes.

A crawl writes its state to its data folder or Redis every few seconds and when it ends. ``scrapy
dashboard`` and the report read these records. A stale record belongs to a run that ended or
crashed.

A *state* maps names of sections to plain JSON values:

    control   name (of its orders), paused, speed
    run       id, node, topic, strategy, frontier, began, seconds, finished, reason, version
    totals    pages, relevant, hubs, articles, duplicates ..., recent (rate of the last pages)
    queues    prior, normal, leased, crawled, error, known
    errors    number by reason
    waiting   reason (see ``waiting``), seconds, detail
    hosts     states (number by state), list (see ``frontier.view.census``)
    terms     changes, own (terms), now (terms and weights)
    latest    last stored articles
    series    every (seconds), points (see ``figures.Point``)
    review    diagnosis of a low harvest: best pages, terms found and not found, seeds,
              hosts of pages not fetched
    nodes     run, totals, waiting and live of each node
    crawls    frontier, topic and live nodes of each known crawl

Sections that change slowly, which the dashboard reads from the stores:

    chains    stories with the most reprints, and their reprints
    learnt    terms that the last topic change added to the user's
    changes   changes of the topic (see ``storage.changes``)
    patterns  URL patterns of sites
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from topiccrawl.errors import StorageError, translated
from topiccrawl.messages import message
from topiccrawl.storage.files import private_opener, replacing
from topiccrawl.text.normal import clean

logger = logging.getLogger(__name__)

INTERVAL = 3.0
"""Seconds between two updates of a run record."""
STALE_SECONDS = 15.0
"""Seconds without an update after which an unfinished run counts as dead."""
MAX_RECORDS = 50
"""Number of records kept in a folder, the last updated ones."""
FOLDER = "runs"

State = dict[str, Any]
"""Sections by name."""

EMPTY: State = {
    "run": {
        "id": "", "node": "", "topic": "topiccrawl", "strategy": "", "frontier": "", "began": 0.0,
        "seconds": 0.0, "finished": 0.0, "reason": "", "version": "",
    },
    "totals": {"pages": 0, "relevant": 0, "articles": 0, "duplicates": 0, "recent": 0.0},
    "queues": {"prior": 0, "normal": 0, "leased": 0, "crawled": 0, "error": 0, "known": 0},
    "errors": {},
    "waiting": {"reason": "", "seconds": 0.0, "detail": ""},
    "hosts": {"states": {}, "list": []},
    "terms": {"changes": 0, "own": [], "now": []},
    "latest": [],
    "series": {"every": 1.0, "points": []},
    "review": {},
    "nodes": [],
}  # fmt: skip
"""State without a crawl."""


class RunReport(NamedTuple):
    """Last record of a run.

    Attributes:
        state: Reported state.
        age: Seconds since the last update.
    """

    state: State
    age: float

    @property
    def live(self) -> bool:
        """True if the run is not finished and its record is not stale."""
        return self.state["run"]["finished"] is None and self.age < STALE_SECONDS


class Runs(Protocol):
    """Store of run records."""

    async def put(self, state: State) -> None:
        """Store the record of a run, replacing its last one.

        Raises:
            StorageError: The record was not stored.
        """

    async def all(self) -> list[RunReport]:
        """Return all records of this version, latest run first; others are logged.

        Raises:
            StorageError: The records cannot be read.
        """

    async def close(self) -> None:
        """Close connections."""


class LocalRuns:
    """Run records in files of a data folder.

    Args:
        folder: TOPICCRAWL_DATA_DIR.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder) / FOLDER

    async def put(self, state: State) -> None:
        """See ``Runs.put``."""
        text = to_json(state)
        await asyncio.to_thread(self._write, f"{state['run']['id']}.json", text)

    async def all(self) -> list[RunReport]:
        """See ``Runs.all``."""
        return await asyncio.to_thread(self.reports)

    async def close(self) -> None:
        """Do nothing: no connection is held open."""

    def reports(self) -> list[RunReport]:
        """Return all readable records (blocking)."""
        failed = message("{path}: cannot be read: {strerror}")
        found: list[RunReport] = []
        for path in filter(Path.is_file, self.folder.glob("*.json")):
            with (
                suppress(FileNotFoundError),  # deleted in the meantime by another run
                translated(StorageError, failed, (PermissionError,), path=path),
            ):
                age = max(0.0, time.time() - path.stat().st_mtime)
                found += report_of(path.read_bytes(), str(path), age)
        return newest_first(found)

    def _write(self, name: str, text: str) -> None:
        failed = message(
            "{folder}: cannot be written: {strerror}; allow writing there, or free disk space"
        )
        with translated(StorageError, failed, folder=self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            with (
                replacing(self.folder / name) as new,
                open(new, "w", encoding="utf-8", opener=private_opener) as file,
            ):
                file.write(text)
            updated: list[tuple[float, Path]] = []
            for path in self.folder.glob("*.json"):
                with suppress(FileNotFoundError):  # another run removed it
                    updated.append((path.stat().st_mtime, path))
            for _, path in sorted(updated)[:-MAX_RECORDS]:
                path.unlink(missing_ok=True)


def to_json(value: object) -> str:
    r"""Return a state, or another value, as JSON on one line and without lone surrogates.

    >>> to_json(["\ud800", 1])
    '["?",1]'
    """
    return clean(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def report_of(text: bytes, where: str, age: float) -> list[RunReport]:
    """Return the record of a JSON text; none, with a warning, if it is not one of this version.

    >>> report_of(b"{}", "/data/runs/x.json", 1.0)
    []
    """
    try:
        state = json.loads(text)
    except (ValueError, RecursionError):  # not JSON or not UTF-8
        state = None
    if _fits(state, _FIXED):
        return [RunReport(state, age)]
    _warn(where)
    return []


@cache
def _warn(where: str) -> None:
    """Warn once, as records are read every second."""
    logger.warning("%s is skipped: not a run record of this version; remove it", where)


_OPTIONAL = {"nodes", "review"}  # of several nodes; since 0.2.0
_FIXED = {name: section for name, section in EMPTY.items() if name not in _OPTIONAL}


def _fits(value: object, empty: object) -> bool:
    """Return whether a value has the types of the empty one, and its keys, at all levels."""
    if isinstance(empty, dict):
        return isinstance(value, dict) and all(
            name in value and _fits(value[name], example) for name, example in empty.items()
        )
    number = isinstance(empty, int | float)
    return isinstance(value, int | float | None if number else type(empty))


def newest_first(found: list[RunReport]) -> list[RunReport]:
    """Return the records, latest run first."""
    return sorted(found, key=lambda report: -report.state["run"]["began"])
