"""Which records a seed's pages make, and which of its earlier ones are gone."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

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
        before: nothing is lost by a bad day. A record goes where all of its pages are gone.
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
        here = {one.entity for one in kept}
        lost = [k.entity for k in before if k.entity not in here and gone.issuperset(k.record.urls)]
        if lost:
            changes["gone"] = await self._records.vanish(self._template.name, lost, now)
        return changes


def named(records: Sequence[Record], seed: str) -> list[tuple[str, Record]]:
    """Records with the entity each stands for.

    The only record of a seed whose pages are of the seed's own host stands for that host, so that
    it stays the same when its page moves or its name changes; others stand for their first page.

    >>> named([Record("t", "甲", urls=("http://a.test/lx",))], "http://a.test/")[0][0]
    'a.test'
    """
    own = host_of(seed)
    if len(records) == 1 and all(host_of(url) == own for url in records[0].urls):
        return [(own, records[0])]
    pages = Counter(record.urls[0] if record.urls else seed for record in records)
    return [
        (page if pages[page] == 1 else f"{page}#{record.name}", record)
        for record in records
        for page in [record.urls[0] if record.urls else seed]
    ]
