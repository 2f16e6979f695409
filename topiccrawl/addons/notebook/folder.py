"""Read access to a data folder: articles, pages and figures as pandas data frames."""

from __future__ import annotations

from contextlib import aclosing, closing
from datetime import date
from importlib.util import find_spec
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.settings import Settings
from typing_extensions import override

from topiccrawl.errors import ConfigurationError, StateError, expect
from topiccrawl.extensions.history import Point
from topiccrawl.frontier.view import QUEUES
from topiccrawl.scheduler.frontiers import frontiers_of, read_frontier
from topiccrawl.storage.crawls import Crawl, CrawlLog
from topiccrawl.storage.factory import closed_after, opened, run_in_thread, storage_of
from topiccrawl.storage.selection import Selection, day, site_in, words_in
from topiccrawl.storage.tables import COLUMNS

if TYPE_CHECKING:
    from pandas import DataFrame

    from topiccrawl.storage.runs import RunReport

RUN = ("topic", "began", "seconds", "finished", "reason", "strategy", "node", "frontier")
"""Fields of a run that become columns."""


def open(folder: str | PathLike[str] = "data", **settings: object) -> DataFolder:
    """Open a data folder for reading; crawls may run at the same time.

    Args:
        folder: TOPICCRAWL_DATA_DIR.
        **settings: Other settings of the crawls, such as MONGODB_URI or REDIS_URL.

    Raises:
        ConfigurationError: If pandas is not installed.
        StateError: If no crawl has used the folder.
    """
    expect(folder, (str, PathLike), "a data folder is text or a path", "see TOPICCRAWL_DATA_DIR")
    if find_spec("pandas") is None:
        raise ConfigurationError("data frames need pandas: pip install 'topiccrawl[notebook]'")
    known = Settings()
    known.setmodule("topiccrawl.settings", priority="project")
    known.setdict({"TOPICCRAWL_DATA_DIR": str(folder), **settings}, priority="cmdline")
    data = DataFolder(known)
    if not storage_of(known).exists():
        raise StateError(
            "{folder}: no crawl has been run with this folder: give a crawl's TOPICCRAWL_DATA_DIR",
            folder=Path(str(folder)).absolute(),
        )
    return data


class DataFolder:
    """Data frames of a data folder; each call reads the current data.

    Args:
        settings: Settings of the stores.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @override
    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._settings['TOPICCRAWL_DATA_DIR']!r})"

    def topics(self) -> list[str]:
        """Return the topics of the recorded crawls, oldest first."""
        crawls = CrawlLog(self._settings["TOPICCRAWL_DATA_DIR"]).all()
        return list(dict.fromkeys(crawl.topic for crawl in crawls))

    def articles(
        self,
        topic: str = "",
        *,
        words: str = "",
        site: str = "",
        since: str | date = "",
        until: str | date = "",
    ) -> DataFrame:
        """Return stored articles with the columns of exports, last stored first.

        ``docs/schemas/table.json`` describes the columns. ``published`` is a time in UTC, or NaT if
        the page has none; ``found`` is the time of the fetch.

        Args:
            topic: Name of a topic; "" for all topics.
            words: Words that the article must contain.
            site: Host, or a parent domain.
            since: First day of publication, such as 2026-01-31.
            until: Last day of publication.
        """
        import pandas as pd

        selection = Selection(
            topic, site_in(site), day(_date(since), "since"), day(_date(until), "until"),
            words_in(words) if words else (),
        )  # fmt: skip
        frame = pd.DataFrame(run_in_thread(self._rows(selection)), columns=list(COLUMNS))
        for name in ("published", "found"):
            frame[name] = pd.to_datetime(frame[name], utc=True, errors="coerce", format="ISO8601")
        return frame

    def pages(self, topic: str = "", *, limit: int = 100_000) -> DataFrame:
        """Return the URLs of a topic's last crawl: url, queue, value in [0, 1], reason.

        Args:
            topic: Name of a topic; "" for the last crawl of the folder.
            limit: Maximum number of rows of each queue.
        """
        import pandas as pd

        rows: list[tuple[str, str, float, str]] = []
        with closing(read_frontier(self._crawl(topic).frontier, self._settings)) as frontier:
            for queue in QUEUES:
                found = islice(frontier.iterate(queue), limit)
                rows += [(url, queue, value, reason) for url, value, reason in found]
        return pd.DataFrame(rows, columns=["url", "queue", "value", "reason"])

    def runs(self) -> DataFrame:
        """Return the recorded runs with their totals, latest first."""
        import pandas as pd

        frame = pd.DataFrame(
            {**{name: one.state["run"][name] for name in RUN}, **one.state["totals"]}
            for one in self._reports()
        )
        for name in {"began", "finished"} & set(frame.columns):
            frame[name] = pd.to_datetime(frame[name], unit="s", utc=True)
        return frame

    def figures(self, topic: str = "") -> DataFrame:
        """Return the history of a topic's last run: at (seconds), pages, relevant, recent, ..."""
        import pandas as pd

        place = self._crawl(topic).frontier
        runs = (one.state for one in self._reports() if one.state["run"]["frontier"] == place)
        points: list[Any] = next((run["series"]["points"] for run in runs), [])
        return pd.DataFrame(points, columns=list(Point._fields))

    def _crawl(self, topic: str) -> Crawl:
        found = CrawlLog(self._settings["TOPICCRAWL_DATA_DIR"]).last(topic)
        if found is None:
            raise StateError("no crawl for topic {topic} has been run", topic=repr(topic))
        return found

    def _reports(self) -> list[RunReport]:
        async def read() -> list[RunReport]:
            async with closed_after(frontiers_of(self._settings).runs()) as runs:
                return await runs.all()

        return run_in_thread(read())

    async def _rows(self, selection: Selection) -> list[dict[str, Any]]:
        async with (
            opened(storage_of(self._settings).articles()) as store,
            aclosing(store.select(selection)) as articles,
        ):
            return [
                {name: column.value(one, selection.topic) for name, column in COLUMNS.items()}
                async for one in articles
            ]


def _date(value: str | date) -> str:
    """Return the date of a date or datetime; text is unchanged."""
    return f"{value:%Y-%m-%d}" if isinstance(value, date) else value
