"""Log of the crawls of a data folder; commands look up the last one.

Also parses start times given by an operator: the last crawl, a date, or a number of hours or days.
"""

from __future__ import annotations

import re
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from topiccrawl.errors import ConfigurationError, StateError
from topiccrawl.messages import message
from topiccrawl.storage.database import FILE, Database
from topiccrawl.storage.files import translated

if TYPE_CHECKING:
    from topiccrawl.storage.database import Work

T = TypeVar("T")

LAST = "last"
"""Text that means the start of the last crawl."""
_AGO = re.compile(r"(\d{1,9})([hd])")
_SECONDS = {"h": 3_600.0, "d": 86_400.0}


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


def parse_since(
    text: str, folder: str | Path, owner: str, now: float, *, ended: bool = False
) -> float:
    """Parse a start time; return seconds since the epoch.

    Args:
        text: ``last``, ``12h``, ``7d``, or a date or time such as 2026-01-31 or 2026-01-31T08:00
            (local time).
        folder: TOPICCRAWL_DATA_DIR, for ``last``.
        owner: Topic or template of the last crawl.
        now: Current time, seconds since the epoch.
        ended: Let ``last`` mean the end of the last crawl (its start if it was killed, ``now`` if
            there was none).

    Raises:
        ConfigurationError: The text has another form.
        StateError: There was no crawl.

    >>> parse_since("2h", "data", "足球", 10_000.0)
    2800.0
    """
    if text == LAST:
        crawl = CrawlLog(folder).last(owner)
        if crawl is None and ended:
            return now
        if crawl is None:
            raise StateError(
                "{folder}: no crawl for {owner!r} has been run with this folder; name a day, such "
                "as 2026-01-31, instead of {last}",
                folder=folder,
                owner=owner,
                last=LAST,
            )
        return crawl.finished or crawl.started if ended else crawl.started
    if ago := _AGO.fullmatch(text):
        return max(0.0, now - int(ago[1]) * _SECONDS[ago[2]])
    failed = message("since {text!r}: write {last}, 12h, 7d or a day such as 2026-01-31")
    causes = (ValueError, OverflowError)
    with translated(ConfigurationError, failed, causes, text=text, last=LAST):
        return datetime.fromisoformat(text).timestamp()


def check_since(text: str) -> None:
    """Check that ``parse_since`` accepts the text.

    Raises:
        ConfigurationError: It does not.
    """
    if text and text != LAST:
        parse_since(text, "", "", 0.0)
