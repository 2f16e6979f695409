"""Which records a seed's pages make, and which of its earlier ones are gone."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from topiccrawl.links.urls import host_of
from topiccrawl.periods.visits import State
from topiccrawl.stores.records import Kept, confidence_of
from topiccrawl.templates.extract import combine
from topiccrawl.templates.record import Record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.periods.visits import Work
    from topiccrawl.stores.records import Records
    from topiccrawl.templates.template import Template


class Entities:
    """Stores the records of seeds.

    Args:
        template: The template.
        records: Where they stay.
    """

    def __init__(self, template: Template, records: Records) -> None:
        self._template = template
        self._records = records

    async def settle(self, work: Work, now: float) -> Counter[str]:
        """Store what a seed's pages of the last layer hold; how many records became what.

        Pages of this window count, and those that failed or were missing once with what they held
        before: nothing is lost by a bad day. A record goes where all of its pages are gone, or say
        another entity now.
        """
        pages = sorted(
            (one for one in work.visits.values() if one.state is not State.GONE),
            key=lambda one: (one.layer, one.place, one.url),
        )
        read = [tuple(map(Record.from_dict, page.records)) for page in pages]
        found = combine(filter(None, read), self._template)
        seed = work.stored
        kept = [
            Kept(entity, record, seed.url, seed.number, work.period, confidence_of(record),
                 checked_at=now)
            for entity, record in named(found, seed.url)
        ]  # fmt: skip
        before = await self._records.of_seed(self._template.name, seed.url)
        changes = Counter(map(str, await self._records.save(kept)))
        gone = {one.url for one in work.visits.values() if one.state is State.GONE}
        told = gone.union(*(one.record.urls for one in kept))
        here = {one.entity for one in kept}
        lost = [k.entity for k in before if k.entity not in here and told.issuperset(k.record.urls)]
        if lost:
            changes["gone"] = await self._records.vanish(self._template.name, lost, now)
        return changes


def named(records: Sequence[Record], seed: str) -> list[tuple[str, Record]]:
    """Records with the entity each stands for.

    Where the seed is the first page of a host, its only record stands for that host, so that it
    stays the same when its page moves or its name changes. All others stand for their first page:
    of two seeds inside one directory each gives a record of its own.

    >>> named([Record("t", "甲", urls=("http://www.a.test/lx",))], "http://a.test/")[0][0]
    'a.test'
    >>> named([Record("t", "甲", urls=("http://b.test/7/lx",))], "http://b.test/7/")[0][0]
    'http://b.test/7/lx'
    """
    own = host_of(seed)
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
    return parts.path in {"", "/"} and not parts.query


def _bare(url: str) -> str:
    return host_of(url).removeprefix("www.")
