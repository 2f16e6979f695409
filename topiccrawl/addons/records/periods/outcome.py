"""Records that a seed's pages make, and those of its earlier ones that are gone."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from topiccrawl.addons.records.periods.visits import State, Work
from topiccrawl.addons.records.record import Record
from topiccrawl.addons.records.records import Kept, Records, confidence_of
from topiccrawl.links.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.addons.records.templates.template import Template


_FIRST = re.compile(r"/?(?:(?:index|default|home)\.(?:html?|php|aspx?|jsp|do))?", re.IGNORECASE)
"""Paths of a host's first page."""


class Entities:
    """Stores the records of seeds.

    Args:
        template: The template.
        records: Their store.
    """

    def __init__(self, template: Template, records: Records) -> None:
        self._template = template
        self._records = records

    async def settle(self, work: Work, now: float) -> Counter[str]:
        """Store the records of a seed's pages; return the number of each kind of change.

        Pages of this window count, and those that failed or were missing once with their earlier
        records: a short outage loses none. A record is gone where all of its pages are gone, or
        give another entity now.
        """
        from topiccrawl.addons.records.templates.extract import combine

        pages = sorted(
            (one for one in work.visits.values() if one.state is not State.GONE),
            key=lambda one: (one.layer, one.place, one.url),
        )
        read = [tuple(map(Record.from_dict, page.records)) for page in pages]
        found = combine(filter(None, read), self._template)
        seed = work.stored
        before = await self._records.of_seed(self._template.name, seed.url)
        kept = [
            Kept(entity, record, seed.url, seed.number, work.period, confidence_of(record),
                 checked_at=now)
            for entity, record in _as_before(named(found, seed.url), before)
        ]  # fmt: skip
        saved = await self._records.save(kept)
        changes = Counter(map(str, saved))
        _forget(work, [one for one, how in zip(kept, saved, strict=True) if how == "forgotten"])
        gone = {one.url for one in work.visits.values() if one.state is State.GONE}
        explained = gone.union(*(one.record.urls for one in kept))
        here = {one.entity for one in kept}
        lost = [
            k.entity for k in before if k.entity not in here and explained.issuperset(k.record.urls)
        ]
        if lost:
            changes["gone"] = await self._records.vanish(self._template.name, lost, now)
        return changes


def _as_before(
    found: Sequence[tuple[str, Record]], before: Sequence[Kept]
) -> list[tuple[str, Record]]:
    """Return records with their stored entities, where these have the ``www.`` of their host."""
    known = {one.entity for one in before}
    return [
        (f"www.{entity}" if f"www.{entity}" in known else entity, record)
        for entity, record in found
    ]


def _forget(work: Work, kept: Sequence[Kept]) -> None:
    """Clear the visits of pages whose entities were forgotten, so that they are read again."""
    urls = {url for one in kept for url in one.record.urls}
    for name, one in work.visits.items():
        if one.url in urls:
            work.visits[name] = replace(one, records=(), digest="", etag="", modified="")


def named(records: Sequence[Record], seed: str) -> list[tuple[str, Record]]:
    """Return records with the entity of each.

    Where the seed is the first page of a host, the entity of its only record is that host without
    ``www.``: it stays the same when its page moves or its name changes, and is one where both
    ``a.test`` and ``www.a.test`` are found. All others have their first page as entity: of two
    seeds inside one directory each gives a record of its own.

    >>> named([Record("t", "甲", urls=("http://www.a.test/lx",))], "http://a.test/")[0][0]
    'a.test'
    >>> named([Record("t", "甲", urls=("http://b.test/7/lx",))], "http://b.test/7/")[0][0]
    'http://b.test/7/lx'
    """
    own = _bare(seed)
    if (
        len(records) == 1
        and _is_root(seed)
        and all(_bare(u) == _bare(seed) for u in records[0].urls)
    ):
        return [(own, records[0])]
    firsts = [record.urls[0] if record.urls else seed for record in records]
    many = Counter(firsts)
    return [
        (page if many[page] == 1 else f"{page}#{record.name}", record)
        for page, record in zip(firsts, records, strict=True)
    ]


def _is_root(url: str) -> bool:
    parts = urlsplit(url)
    return bool(_FIRST.fullmatch(parts.path)) and not parts.query


def _bare(url: str) -> str:
    return host_of(url).removeprefix("www.")
