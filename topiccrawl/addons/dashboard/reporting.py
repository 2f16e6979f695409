"""Write the report of a crawl from the records of runs and the stores."""

from __future__ import annotations

import asyncio
from contextlib import closing
from heapq import nlargest
from typing import TYPE_CHECKING

from topiccrawl.addons.dashboard.merge import merged_state
from topiccrawl.addons.dashboard.report import Content, Report, Site
from topiccrawl.addons.dashboard.stored import Stored
from topiccrawl.errors import SettingError, StateError, StorageError
from topiccrawl.frontier.entries import HostEntry, UrlEntry
from topiccrawl.scheduler.build import read_frontier
from topiccrawl.storage.factory import closed_after
from topiccrawl.storage.rows import clean

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from scrapy.settings import BaseSettings

    from topiccrawl.storage.runs import RunReport
    from topiccrawl.storage.status import State

LANGUAGES = ("en", "zh")
CANDIDATES = 2_000
"""Number of newest articles from which the shown ones are selected."""
ARTICLES = 100
"""Number of articles shown, those with the best scores."""
SITES = 40
"""Number of hosts shown, those with the most pages."""


async def write_report(
    path: Path,
    records: Sequence[RunReport],
    settings: BaseSettings,
    *,
    topic: str = "",
    language: str,
) -> None:
    """Write the report of a crawl.

    Args:
        path: The file; its folder is created if needed.
        records: Records of runs, latest first.
        settings: Settings of the frontier and the article store.
        topic: Topic of the crawl; "" for the latest crawl.
        language: One of ``LANGUAGES``.

    Raises:
        StateError: If no crawl, or none of this topic, is recorded.
        StorageError: If a store cannot be read or the file cannot be written.
    """
    runs = [one for one in records if not topic or one.state["run"]["topic"] == topic]
    if not runs:
        of = f" for topic {topic!r}" if topic else ""
        raise StateError(
            "no crawl{of} has a record in {topiccrawl_data_dir} or its "
            "Redis: name another folder with -s TOPICCRAWL_DATA_DIR=FOLDER",
            of=of,
            topiccrawl_data_dir=settings["TOPICCRAWL_DATA_DIR"],
        )
    state = merged_state(runs, runs[0].state["run"]["frontier"])
    html = Report(await content_of(state, settings), language).html()
    await asyncio.to_thread(_write, path, clean(html))


async def content_of(state: State, settings: BaseSettings) -> Content:
    """Return the content of a report."""
    run = state["run"]
    async with closed_after(Stored(settings)) as stored:
        total, articles = await stored.articles(run["topic"], 0, CANDIDATES)
        more = await stored.more(run["topic"], run["frontier"])
    best = nlargest(ARTICLES, articles, key=lambda one: one.score)
    sites = await asyncio.to_thread(_sites, state, settings)
    return Content(state, more, total, best, sites)


def language_of(settings: BaseSettings) -> str:
    """Return the language of reports.

    Raises:
        SettingError: If the language is not supported.
    """
    language = str(settings.get("TOPICCRAWL_REPORT_LANGUAGE") or "en").lower()
    if language not in LANGUAGES:
        raise SettingError(
            "TOPICCRAWL_REPORT_LANGUAGE is {language!r}: set it to {choices}",
            language=language,
            choices=" or ".join(LANGUAGES),
        )
    return language


def _sites(state: State, settings: BaseSettings) -> list[Site]:
    """Return the hosts with the most pages, from the frontier if readable, or from the record."""
    hosts = [Site(one["name"], one["pages"], one["worth"]) for one in state["hosts"]["list"]]
    try:
        with closing(read_frontier(state["run"]["frontier"], settings)) as frontier:
            found = []
            for entry in frontier.export():
                if isinstance(entry, UrlEntry):
                    break
                if isinstance(entry, HostEntry):
                    worth = entry.worth / entry.pages if entry.pages else 0.0
                    found.append(Site(entry.name, entry.fetched, worth))
            hosts = found
    except (StateError, StorageError):
        pass  # the frontier was deleted, or belongs to another strategy now
    return nlargest(SITES, hosts, key=lambda site: site.pages)


def _write(path: Path, html: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(html, encoding="utf-8")
    except OSError as error:
        raise StorageError(
            "{path}: cannot be written: {strerror}", path=path, strerror=error.strerror
        ) from error
