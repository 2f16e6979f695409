"""Log of the crawls of a data folder; commands look up the last one."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from topiccrawl.storage.database import FILE, Database, waiting

if TYPE_CHECKING:
    from topiccrawl.storage.database import Work

T = TypeVar("T")

BEGIN_SECONDS = 3.0
"""Seconds that the record of a crawl's start waits for the lock of another process."""


class Crawl(NamedTuple):
    """One run of a crawl.

    Attributes:
        number: Number among the runs of a data folder, from 1.
        topic: The topic's name.
        frontier: The frontier's folder.
        started: Seconds since the epoch.
        finished: Seconds since the epoch; None while it runs or if it was killed.
        reason: Scrapy's finish reason (``finished``, ``shutdown`` ...), or "".
    """

    number: int
    topic: str
    frontier: str
    started: float
    finished: float | None
    reason: str


class CrawlLog:
    """Log of the crawls of a data folder.

    Calls block briefly; use them at the start and end of a run and in commands. Every call opens
    the store's file and raises the errors of ``ArticleStore.open``.

    Args:
        folder: TOPICCRAWL_DATA_DIR.
    """

    def __init__(self, folder: str | Path) -> None:
        self.path = Path(folder) / FILE

    def begin(self, topic: str, frontier: str, now: float) -> int:
        """Record the start of a crawl and return its number.

        A lock of another process is waited for only briefly, since the crawl waits.
        """
        query = "INSERT INTO crawls VALUES (NULL, ?, ?, ?, NULL, '')"
        with closing(Database(self.path)) as database:
            database.open()
            database.call(waiting(BEGIN_SECONDS), "BEGIN")
            number = database.call(lambda c: c.execute(query, (topic, frontier, now)).lastrowid)
        return number or 0

    def finish(self, number: int, reason: str, now: float) -> None:
        """Record the end of a crawl, unless the store was deleted since."""
        if not self.path.exists():
            return
        query = "UPDATE crawls SET finished = ?, reason = ? WHERE id = ?"
        self._call(lambda c: c.execute(query, (now, reason, number)))

    def last(self, topic: str = "") -> Crawl | None:
        """Return the last started crawl (of a topic, if given), or None."""
        crawls = self.all(topic)
        return crawls[-1] if crawls else None

    def all(self, topic: str = "") -> list[Crawl]:
        """Return all crawls (of a topic, if given), oldest first; create no file."""
        if not self.path.exists():
            return []
        query = "SELECT * FROM crawls WHERE topic = :topic OR :topic = '' ORDER BY id"
        rows = self._call(lambda c: c.execute(query, {"topic": topic}).fetchall(), "BEGIN")
        return [self._relocated(Crawl(*row)) for row in rows]

    def _relocated(self, crawl: Crawl) -> Crawl:
        """Return a crawl with its frontier in this data folder, which may be a copy or moved."""
        place = self.path.absolute().parent.joinpath(*Path(crawl.frontier).parts[-2:])
        return crawl._replace(frontier=str(place)) if place.is_dir() else crawl

    def _call(self, work: Work[T], begin: str = "BEGIN IMMEDIATE") -> T:
        with closing(Database(self.path)) as database:
            database.open()
            return database.call(work, begin)
