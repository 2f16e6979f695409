"""``scrapy articles changes``: new, changed and gone pages since a time."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy.spiderloader import get_spider_loader

from topiccrawl.errors import StateError
from topiccrawl.links.urls import host_of
from topiccrawl.scheduler.starttime import LAST, parse_since
from topiccrawl.storage.factory import storage_of
from topiccrawl.storage.pages import Change, Pages
from topiccrawl.storage.selection import site_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from scrapy.settings import BaseSettings

    from topiccrawl.storage.contract import ArticleStore

_DAY = 86_400.0


class ChangeRow(NamedTuple):
    """Change of a page, with data of its stored article.

    Attributes:
        change: The change.
        title: Headline of the article; "" if none is stored.
        story: URL of the story that the article reprints; "" if it is no reprint.
        versions: Number of stored earlier versions.
    """

    change: Change
    title: str = ""
    story: str = ""
    versions: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain JSON values."""
        article = {"title": self.title, "reprint_of": self.story, "versions": self.versions}
        return {**self.change.to_dict(), **article}


async def period_since(settings: BaseSettings, text: str, owner: str, now: float) -> float:
    """Parse a start time like ``parse_since``; ``last`` is the start of a template's last period.

    Raises:
        StateError: If ``text`` is ``last`` and the template has no period.
    """
    if text != LAST:
        return parse_since(text, "", owner, now)
    spider: Any = get_spider_loader(settings).load("template")
    period = await spider.last_period(settings, owner)
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


async def change_rows(store: ArticleStore, changes: Iterable[Change]) -> list[ChangeRow]:
    """Return changes with data of their stored articles."""
    rows: list[ChangeRow] = []
    for change in changes:
        story = await store.get(change.url)
        if story is None:
            rows.append(ChangeRow(change))
            continue
        copy = next((one for one in story.reprints if one.url == change.url), None)
        title = story.article.title if copy is None else copy.title
        versions = len(await store.versions(change.url)) if change.event == "changed" else 0
        rows.append(ChangeRow(change, title, "" if copy is None else story.article.url, versions))
    return rows


def report(
    owner: str, since: float, changes: Iterable[Change], rows: Iterable[ChangeRow]
) -> list[str]:
    """Return the lines of the report: the numbers of all changes, and the shown ones."""
    numbers = Counter(change.event for change in changes)
    counted = ", ".join(f"{numbers[event]} {event}" for event in ("new", "changed", "gone"))
    return [f"{owner} since {minute_of(since)}: {counted}", *map(_line, rows)]


def as_json(rows: Sequence[ChangeRow]) -> list[str]:
    """Return one line of JSON per change."""
    return [json.dumps(one.to_dict(), ensure_ascii=False) for one in rows]


def _line(row: ChangeRow) -> str:
    change = row.change
    notes = [f"reprints {row.story}"] if row.story else []
    if row.versions:
        notes.append(f"{row.versions} earlier texts")
    note = f"  ({', '.join(notes)})" if notes else ""
    return f"{change.event:<8} {minute_of(change.at)}  {row.title}  {change.url}{note}"


def minute_of(at: float) -> str:
    """Return a time, seconds since the epoch, as local date and minute."""
    return datetime.fromtimestamp(at).astimezone().isoformat(" ", "minutes")[:16]
