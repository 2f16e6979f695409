"""``scrapy articles changes``: new, changed and gone pages since a time."""

from __future__ import annotations

import re
from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING, Any

from topiccrawl.errors import StateError
from topiccrawl.links.urls import host_of
from topiccrawl.messages import message, padded, tr
from topiccrawl.scheduler.hooks import spider_class
from topiccrawl.scheduler.starttime import LAST, parse_since
from topiccrawl.storage.factory import storage_of
from topiccrawl.storage.pages import Change, Pages
from topiccrawl.storage.selection import site_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from scrapy.settings import BaseSettings

    from topiccrawl.storage.contract import ArticleStore

    Row = dict[str, Any]

_DAY = 86_400.0
_EVENTS = {"new": message("new"), "changed": message("changed"), "gone": message("gone")}
"""Events of a page as messages."""


async def period_since(settings: BaseSettings, text: str, owner: str, now: float) -> float:
    """Parse a start time like ``parse_since``; ``last`` is the start of a template's last period.

    Raises:
        StateError: If ``text`` is ``last`` and the template has no period.
    """
    if text != LAST:
        return parse_since(text, "", owner, now)
    period = await spider_class(settings, "template").last_period(settings, owner)
    if period is None:
        raise StateError(
            "template {owner!r} has no period yet: give a day with --since", owner=owner
        )
    return float(period.started)


def until_of(text: str, folder: str | Path, owner: str, now: float) -> float:
    """Parse an end time like ``parse_since``; a day includes its last second, and 0 means no end.

    >>> until_of("", "data", "足球", 0.0), until_of("1h", "data", "足球", 10_000.0)
    (0.0, 6400.0)
    """
    until = parse_since(text, folder, owner, now) if text else 0.0
    return until + _DAY if re.fullmatch(r"\d{4}-\d\d-\d\d", text) else until


async def changes_of(
    settings: Mapping[str, Any], owner: str, since: float, until: float = 0.0, site: str = ""
) -> list[Change]:
    """Return the changes of an owner's pages, oldest first.

    Args:
        settings: Settings of the storage.
        owner: Name of the topic or template.
        since: Start, seconds since the epoch.
        until: End, seconds since the epoch; 0 for none.
        site: Host, whose subdomains are included; "" for all.

    Raises:
        StorageError: If the store cannot be read.
    """
    async with Pages(storage_of(settings)) as pages:
        found = await pages.changes(owner, since, until)
    return [one for one in found if not site or f"site:{site}" in site_names(host_of(one.url))]


async def change_rows(store: ArticleStore, changes: Iterable[Change]) -> list[Row]:
    """Return changes with data of their stored articles, as plain JSON values.

    ``title`` is the headline ("" if no article is stored), ``reprint_of`` the URL of the story that
    the article reprints (""), ``versions`` the number of stored earlier versions.
    """
    rows: list[Row] = []
    for change in changes:
        row = {**change.to_dict(), "title": "", "reprint_of": "", "versions": 0}
        if story := await store.get(change.url):
            row["title"] = story.article.title
            for copy in story.reprints:
                if copy.url == change.url:
                    row |= {"title": copy.title, "reprint_of": story.article.url}
            if change.event == "changed":
                row["versions"] = len(await store.versions(change.url))
        rows.append(row)
    return rows


def report(owner: str, since: float, changes: Iterable[Change], rows: Iterable[Row]) -> list[str]:
    """Return the lines of the report: the numbers of all changes, and the shown ones."""
    numbers = Counter(change.event for change in changes)
    head = tr(
        "{owner} since {minute}: {new} new, {changed} changed, {gone} gone",
        owner=owner, minute=minute_of(since), **{event: numbers[event] for event in _EVENTS},
    )  # fmt: skip
    return [head, *map(_line, rows)]


def _line(row: Row) -> str:
    notes = [tr("reprints {url}", url=row["reprint_of"])] if row["reprint_of"] else []
    notes += [tr("{number} earlier texts", number=row["versions"])] if row["versions"] else []
    note = f"  ({', '.join(notes)})" if notes else ""
    event, at = padded(_EVENTS[row["event"]], 8), minute_of(row["at"])
    return f"{event} {at}  {row['title']}  {row['url']}{note}"


def minute_of(at: float) -> str:
    """Return a time, seconds since the epoch, as local date and minute."""
    return datetime.fromtimestamp(at).astimezone().isoformat(" ", "minutes")[:16]
