"""Which records a seed's pages make, and which of its earlier ones are gone."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from topiccrawl.links.urls import host_of
from topiccrawl.periods.visits import State
from topiccrawl.stores.records import Kept, confidence_of
from topiccrawl.templates.record import Record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.periods.visits import Work
    from topiccrawl.stores.records import Records


class Entities:
    """Stores the records of seeds.

    Args:
        template: Name of the template.
        records: Where they stay.
    """

    def __init__(self, template: str, records: Records) -> None:
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
        found = joined([Record.from_dict(r) for page in pages for r in page.records])
        seed = work.stored
        kept = [
            Kept(entity, record, seed.url, seed.number, work.period, confidence_of(record),
                 checked_at=now)
            for entity, record in named(found, seed.url)
        ]  # fmt: skip
        before = await self._records.of_seed(self._template, seed.url)
        changes = Counter(map(str, await self._records.save(kept)))
        gone = {one.url for one in work.visits.values() if one.state is State.GONE}
        here = {one.entity for one in kept}
        lost = [k.entity for k in before if k.entity not in here and gone.issuperset(k.record.urls)]
        if lost:
            changes["gone"] = await self._records.vanish(self._template, lost, now)
        return changes


def joined(records: Sequence[Record]) -> list[Record]:
    """Records of one seed's pages; those of one name are one, nameless ones join the only name.

    >>> a, b = Record("t", "甲", urls=("http://a.test/1",)), Record("t", "", urls=("http://a.test/2",))
    >>> [record.urls for record in joined([a, b])]
    [('http://a.test/1', 'http://a.test/2')]
    """
    names = list(dict.fromkeys(record.name for record in records if record.name))
    groups: dict[str, list[Record]] = {}
    for place, record in enumerate(records):
        alone = names[0] if len(names) == 1 else "" if not names else f"\0{place}"
        groups.setdefault(record.name or alone, []).append(record)
    return [_one(group) for group in groups.values()]


def _one(group: Sequence[Record]) -> Record:
    found = {(one.field, one.value): one for record in group for one in reversed(record.found)}
    urls = tuple(dict.fromkeys(url for record in group for url in record.urls))
    name = next((record.name for record in group if record.name), "")
    order = list(dict.fromkeys(one.field for record in group for one in record.found))
    values = sorted(found.values(), key=lambda one: (order.index(one.field), -one.confidence))
    return Record(group[0].template, name, tuple(values), urls)


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
