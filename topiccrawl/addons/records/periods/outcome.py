"""Records of a seed: builds them from its pages, and marks earlier ones as gone."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from topiccrawl.addons.records.periods.visits import State
from topiccrawl.addons.records.record import Record
from topiccrawl.addons.records.records import Records, StoredRecord, confidence_of
from topiccrawl.links.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.addons.records.periods.periods import Seed
    from topiccrawl.addons.records.templates.template import Template


_ROOT_PATH = re.compile(r"/?(?:(?:index|default|home)\.(?:html?|php|aspx?|jsp|do))?", re.IGNORECASE)
"""Paths of a host's front page."""


async def update_records(
    template: Template, records: Records, seed: Seed, now: float
) -> Counter[str]:
    """Store the records of a seed's pages; return the number of each kind of change.

    Pages that failed, or answered 404 or 410 only once, keep their earlier records, so that a
    short outage loses none. A record is gone when all of its pages are gone or now produce
    another entity.

    Args:
        template: The template.
        records: Store of records.
        seed: The seed and its pages.
        now: Seconds since the epoch.
    """
    from topiccrawl.addons.records.templates.extract import combine

    pages = sorted(
        (one for one in seed.visits.values() if one.state is not State.GONE),
        key=lambda one: (one.layer, one.place, one.url),
    )
    read = [tuple(map(Record.from_dict, page.records)) for page in pages]
    found = combine(filter(None, read), template)
    before = await records.of_seed(template.name, seed.url)
    stored = [
        StoredRecord(entity, record, seed.url, seed.number, seed.period,
                     confidence_of(record), checked_at=now)
        for entity, record in with_entities(found, seed.url)
    ]  # fmt: skip
    saved = await records.save(stored)
    changes = Counter(map(str, saved))
    forgotten = [one for one, how in zip(stored, saved, strict=True) if how == "forgotten"]
    _clear_visits(seed, forgotten)
    gone = {one.url for one in seed.visits.values() if one.state is State.GONE}
    explained = gone.union(*(one.record.urls for one in stored))
    here = {one.entity for one in stored}
    lost = [
        k.entity for k in before if k.entity not in here and explained.issuperset(k.record.urls)
    ]
    if lost:
        changes["gone"] = await records.mark_gone(template.name, lost, now)
    return changes


def _clear_visits(seed: Seed, stored: Sequence[StoredRecord]) -> None:
    """Clear the visits of pages with forgotten entities, so that the pages are parsed again."""
    urls = {url for one in stored for url in one.record.urls}
    for name, one in seed.visits.items():
        if one.url in urls:
            seed.visits[name] = replace(one, records=(), digest="", etag="", modified="")


def with_entities(records: Sequence[Record], seed: str) -> list[tuple[str, Record]]:
    """Return records, each with its entity.

    If the seed is the front page of a host with only one record, the entity is that host without
    ``www.``. It is the same for ``a.test`` and ``www.a.test``, and does not change when the page
    moves or the name changes. In all other cases the entity is the URL of the record's first page,
    so that two seeds in one directory produce two records.

    >>> with_entities([Record("t", "甲", urls=("http://www.a.test/lx",))], "http://a.test/")[0][0]
    'a.test'
    >>> with_entities([Record("t", "甲", urls=("http://b.test/7/lx",))], "http://b.test/7/")[0][0]
    'http://b.test/7/lx'
    """
    own = _host_without_www(seed)
    alone = len(records) == 1 and {own}.issuperset(map(_host_without_www, records[0].urls))
    if alone and _is_root(seed):
        return [(own, records[0])]
    firsts = [record.urls[0] if record.urls else seed for record in records]
    many = Counter(firsts)
    return [
        (page if many[page] == 1 else f"{page}#{record.name}", record)
        for page, record in zip(firsts, records, strict=True)
    ]


def _is_root(url: str) -> bool:
    parts = urlsplit(url)
    return bool(_ROOT_PATH.fullmatch(parts.path)) and not parts.query


def _host_without_www(url: str) -> str:
    return host_of(url).removeprefix("www.")
