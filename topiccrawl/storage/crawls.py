"""Log of the crawls of a data folder; commands look up the last one."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from topiccrawl.storage.database import FILE, Database

if TYPE_CHECKING:
    from topiccrawl.storage.database import Work

T = TypeVar("T")


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
        """Record the start of a crawl and return its number."""
        query = "INSERT INTO crawls VALUES (NULL, ?, ?, ?, NULL, '')"
        return self._call(lambda c: c.execute(query, (topic, frontier, now)).lastrowid) or 0

    def finish(self, number: int, reason: str, now: float) -> None:
        """Record the end of a crawl."""
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
        rows = self._call(lambda c: c.execute(query, {"topic": topic}).fetchall())
        return [Crawl(*row) for row in rows]

    def relocate(self) -> None:
        """Update the paths of frontiers after the data folder was restored to another place."""
        folder, query = self.path.absolute().parent, "UPDATE crawls SET frontier = ? WHERE id = ?"
        moved = []
        for crawl in self.all():
            place = folder.joinpath(*Path(crawl.frontier).parts[-2:])  # frontiers/NAME
            if place.is_dir():
                moved.append((str(place), crawl.number))
        if moved:
            self._call(lambda c: c.executemany(query, moved))

    def _call(self, work: Work[T]) -> T:
        with closing(Database(self.path)) as database:
            database.open()
            return database.call(work)
