"""Write a report's file from the records of runs and the stores."""

from __future__ import annotations

import asyncio
from contextlib import closing
from heapq import nlargest
from typing import TYPE_CHECKING

from topiccrawl.addons.dashboard.merge import together
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
LOOKED_AT = 2_000
"""Articles that the shown ones are chosen from, the newest."""
ARTICLES = 100
"""Articles that are shown, those with the best scores."""
SITES = 40
"""Hosts that are shown, those with most pages."""


async def written(
    path: Path,
    records: Sequence[RunReport],
    settings: BaseSettings,
    *,
    topic: str = "",
    language: str,
) -> None:
    """Write the report of a crawl.

    Args:
        path: The file; its folder is made.
        records: Records, of the run that began last first.
        settings: Name the frontier and the article store.
        topic: Topic of the crawl; "" for the last one.
        language: One of ``LANGUAGES``.

    Raises:
        StateError: No crawl (of this topic) is known.
        StorageError: Something cannot be read, or the file not be written.
    """
    own = [one for one in records if not topic or one.state["run"]["topic"] == topic]
    if not own:
        of = f" for topic {topic!r}" if topic else ""
        raise StateError(
            "no crawl{of} has a record in {topiccrawl_data_dir} or its "
            "Redis: name another folder with -s TOPICCRAWL_DATA_DIR=FOLDER",
            of=of,
            topiccrawl_data_dir=settings["TOPICCRAWL_DATA_DIR"],
        )
    state = together(own, own[0].state["run"]["frontier"])
    html = Report(await content_of(state, settings), language).html()
    await asyncio.to_thread(_write, path, clean(html))


async def content_of(state: State, settings: BaseSettings) -> Content:
    """Return the content of a report: a state and the stored articles."""
    run = state["run"]
    async with closed_after(Stored(settings)) as stored:
        total, articles = await stored.articles(run["topic"], 0, LOOKED_AT)
        more = await stored.more(run["topic"], run["frontier"])
    best = nlargest(ARTICLES, articles, key=lambda one: one.score)
    sites = await asyncio.to_thread(_sites, state, settings)
    return Content(state, more, total, best, sites)


def language_of(settings: BaseSettings) -> str:
    """The language that reports are written in.

    Raises:
        SettingError: There is no such language.
    """
    language = str(settings.get("TOPICCRAWL_REPORT_LANGUAGE") or "en").lower()
    if language not in LANGUAGES:
        raise SettingError(
            "TOPICCRAWL_REPORT_LANGUAGE is {language!r}: write {choices}",
            language=language,
            choices=" or ".join(LANGUAGES),
        )
    return language


def _sites(state: State, settings: BaseSettings) -> list[Site]:
    """Return the hosts with most pages: of the frontier if readable, else of the record."""
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
        pass  # it was deleted, or started again with another strategy
    return nlargest(SITES, hosts, key=lambda site: site.pages)


def _write(path: Path, html: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(html, encoding="utf-8")
    except OSError as error:
        raise StorageError(
            "{path}: cannot be written: {strerror}", path=path, strerror=error.strerror
        ) from error
