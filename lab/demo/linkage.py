"""Link graph of the demo web: blocks of links, drawn per page from the seed.

Links are topical: channels list their own, related articles are mostly of the same subject, hot
lists are not. A page's links do not depend on its text, so the graph is known without rendering.
"""

from __future__ import annotations

import random
from array import array
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from lab.demo.plan import PER_PAGE, Entry, Kind, Plan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lab.demo.sites import Section

_SAME_SECTION, _SAME_SUBJECT = 0.75, 0.92
"""Maximum numbers of related links: from the channel, and on the subject from elsewhere."""
_ASIDE = (Kind.COPY, Kind.ADVERT, Kind.COMMENT, Kind.LOGIN, Kind.OTHER)
_FRONT_STORIES = 6
_SOMETIMES = 0.5
_T = TypeVar("_T")


class Block(NamedTuple):
    """Links that belong together.

    Attributes:
        role: ``nav``, ``crumbs``, ``list``, ``channel``, ``related``, ``hot``, ``friends``,
            ``pager``, ``adverts``, ``inline``, ``comments``, ``blogs``, ``quiet`` (rel=nofollow),
            ``extra`` or ``service``.
        targets: Linked entries in order.
        section: Section of a ``channel`` block, or -1.
    """

    role: str
    targets: tuple[int, ...]
    section: int = -1


class Linkage:
    """The link graph of a plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.by_site: dict[int, list[Section]] = {}
        self.by_subject: dict[int, list[Section]] = {}
        for section in plan.sections:
            self.by_site.setdefault(section.site, []).append(section)
            if section.subject is not None and section.site not in plan.hidden:
                self.by_subject.setdefault(section.subject.number, []).append(section)
        self.open_fronts = [n for site, n in plan.fronts.items() if site not in plan.hidden]
        self.followed = cache(self._followed)
        self._makers: dict[Kind, Callable[[int, Entry, random.Random], Iterator[Block]]] = {
            Kind.HUB: self._hub,
            Kind.ARTICLE: self._article,
            Kind.BLOG: self._blog,
            **dict.fromkeys(_ASIDE, self._aside),
        }

    def blocks(self, number: int) -> tuple[Block, ...]:
        """Return the link blocks of a page, in page order; empty if it is not a page."""
        entry = self.plan.entries[number]
        maker = self._makers.get(entry.kind)
        if maker is None or self.plan.trait(number).body == "empty":
            return ()
        rng = random.Random((self.plan.seed << 40) + number * 4 + 3)  # noqa: S311
        blocks = [*maker(number, entry, rng), *self._common(number)]
        if absent := self.plan.absent:
            blocks = [
                block._replace(targets=tuple(n for n in block.targets if n not in absent))
                for block in blocks
            ]
        return tuple(block for block in blocks if block.targets)

    def _followed(self, number: int) -> Sequence[int]:
        """Return the entries that a crawler may follow from a fetched page, without duplicates."""
        if "nofollow" in self.plan.trait(number).robots:
            return array("i")
        targets = (block.targets for block in self.blocks(number) if block.role != "quiet")
        return array("i", dict.fromkeys(chain.from_iterable(targets)))

    # -- Kinds of pages --------------------------------------------------------------------------

    def _hub(self, number: int, entry: Entry, rng: random.Random) -> Iterator[Block]:
        if entry.section < 0:
            yield from self._front(number, entry, rng)
            return
        section = self.plan.sections[entry.section]
        contents = self.plan.contents[section.number]
        yield self._nav(entry)
        yield Block("crumbs", (self.plan.fronts[entry.site],))
        if entry.page < 0:
            yield Block("list", tuple(rng.sample(contents, min(len(contents), 12))))
            return
        start = entry.page * PER_PAGE
        yield Block("list", tuple(contents[start : start + PER_PAGE]))
        yield self._pager(section, entry.page)
        yield self._hot(entry, rng)
        yield Block("friends", tuple(self._hubs_elsewhere(section, rng)))
        yield self._adverts(number, 2)

    def _front(self, number: int, entry: Entry, rng: random.Random) -> Iterator[Block]:
        """Return the blocks of a front page; other hubs without a section have extra links only."""
        yield self._nav(entry)
        if self.plan.fronts[entry.site] != number:
            return
        for section in self.by_site.get(entry.site, ()):
            head = self.plan.lists[section.number][0]
            stories = self.plan.contents[section.number][:_FRONT_STORIES]
            yield Block("channel", (head, *stories), section.number)
        yield Block("friends", tuple(self._some(self.open_fronts, 5, rng)))
        yield self._adverts(number, 4)

    def _article(self, number: int, entry: Entry, rng: random.Random) -> Iterator[Block]:
        section = self.plan.sections[entry.section]
        yield self._nav(entry)
        yield Block("crumbs", (self.plan.fronts[entry.site], self.plan.lists[section.number][0]))
        if rng.random() < _SOMETIMES:
            yield Block("inline", (self._relative(section, rng),))
        related = (self._relative(section, rng) for _ in range(6))
        yield Block("related", tuple(dict.fromkeys(n for n in related if n != number)))
        yield self._hot(entry, rng)
        yield self._adverts(number, rng.randint(1, 2))
        if number in self.plan.comments:
            yield Block("comments", (self.plan.comments[number],))

    def _blog(self, number: int, entry: Entry, rng: random.Random) -> Iterator[Block]:
        section = self.plan.sections[entry.section]
        yield self._nav(entry)
        yield Block("crumbs", (self.plan.lists[section.number][0],))
        contents = self.plan.contents[section.number]
        yield Block("blogs", tuple(self._some(contents, 5, rng)))
        yield self._hot(entry, rng)
        yield self._adverts(number, 2)

    def _aside(self, number: int, entry: Entry, rng: random.Random) -> Iterator[Block]:
        """Return the blocks of adverts, comments, copies and service pages."""
        yield self._nav(entry)
        if entry.of >= 0:
            yield Block("crumbs", (entry.of,))
        if entry.kind == Kind.ADVERT:
            yield self._adverts(number, 3)
        elif rng.random() < _SOMETIMES:
            yield self._hot(entry, rng)

    # -- Blocks ----------------------------------------------------------------------------------

    def _common(self, number: int) -> Iterator[Block]:
        entry = self.plan.entries[number]
        yield Block("extra", self.plan.extra.get(number, ()))
        yield Block("quiet", self.plan.nofollow.get(number, ()))
        yield Block("service", self.plan.service.get(entry.site, ()))

    def _nav(self, entry: Entry) -> Block:
        heads = (self.plan.lists[s.number][0] for s in self.by_site.get(entry.site, ()))
        return Block("nav", (self.plan.fronts[entry.site], *heads))

    def _pager(self, section: Section, page: int) -> Block:
        pages = self.plan.lists[section.number]
        near = pages[max(0, page - 1) : page] + pages[page + 1 : page + 2]
        return Block("pager", tuple(near), section.number)

    def _hot(self, entry: Entry, rng: random.Random) -> Block:
        sections = [s for s in self.by_site[entry.site] if s.subject is not None]
        chosen = [rng.choice(sections) for _ in range(6)]
        spots = (self._one(section, rng) for section in chosen)
        return Block("hot", tuple(dict.fromkeys(spots)))

    def _hubs_elsewhere(self, section: Section, rng: random.Random) -> Iterator[int]:
        if section.subject is None:
            return
        kin = self.by_subject.get(section.subject.number, [])
        others = [s for s in kin if s.site != section.site]
        for other in self._some(others, 2, rng):
            yield self.plan.lists[other.number][0]

    def _relative(self, section: Section, rng: random.Random) -> int:
        draw = rng.random()
        if draw < _SAME_SECTION or section.subject is None:
            return self._one(section, rng)
        if draw < _SAME_SUBJECT:
            kin = self.by_subject.get(section.subject.number) or [section]
            return self._one(rng.choice(kin), rng)
        return self._one(rng.choice(self.by_site[section.site]), rng)

    def _one(self, section: Section, rng: random.Random) -> int:
        """Draw a story of a section; recent ones are more likely."""
        contents = self.plan.contents[section.number]
        if not contents:
            return self.plan.lists[section.number][0]
        return contents[int(len(contents) * rng.random() ** 1.5)]

    def _adverts(self, number: int, count: int) -> Block:
        adverts = self.plan.adverts
        if not adverts:
            return Block("adverts", ())
        chosen = ((number * 3 + i) % len(adverts) for i in range(count))
        return Block("adverts", tuple(dict.fromkeys(adverts[i] for i in chosen)))

    @staticmethod
    def _some(options: Sequence[_T], count: int, rng: random.Random) -> list[_T]:
        return rng.sample(options, min(count, len(options)))
