"""Stored state of template crawls: periods, and seeds with the pages fetched for each.

A seed and its pages are one document that is written atomically: after a crash, the seed has the
state after one of its pages. Only one process at a time crawls a template.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from topiccrawl.addons.records.periods.visits import PageRequest, State, Visit, name_of
from topiccrawl.storage.documents import DocumentKind, DocumentStore, Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from topiccrawl.storage.contract import Storage
    from topiccrawl.storage.documents import Document


class Phase(StrEnum):
    """Phase of a period, in order."""

    SEARCHING = "searching"
    CRAWLING = "crawling"
    CHECKING = "checking"
    FINISHED = "finished"


class Stage(StrEnum):
    """Stage of a seed.

    FOUND: found by the search, without a number yet. WAITING: to be sampled. OPEN: its pages are
    being fetched. AGAIN: missing pages are requested once more at the end of the period. DONE:
    finished. FAILED: the seed page could not be fetched. SKIPPED: not sampled in this period; added
    to the list of the next one.
    """

    FOUND = "found"
    WAITING = "waiting"
    OPEN = "open"
    AGAIN = "again"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Period:
    """One period of a template. Times are in seconds since the epoch; 0 means never.

    Attributes:
        template: Name of the template.
        number: Number of the period, from 1.
        phase: Its current phase.
        started: Time of its start.
        finished: Time of its end.
        total: Number of seeds in its list.
    """

    template: str
    number: int
    phase: Phase = Phase.SEARCHING
    started: float = 0.0
    finished: float = 0.0
    total: int = 0


@dataclass(slots=True)
class Seed:
    """A seed and the pages fetched for it.

    Attributes:
        template: Name of the template.
        url: Canonical URL.
        title: Title in the search results.
        rank: Rank in the search results.
        number: Number in the period's list, from 1; 0 if not assigned yet.
        period: Number of the last period whose list contains the seed.
        stage: Stage in that period.
        chance: Probability with which the seed was sampled, in [0, 1]; 0 if not sampled yet.
        useful: Number of records of the seed.
        crawled: Number of the last period in which the seed was finished; 0 if never.
        visits: Pages by name, of this and earlier periods.
    """

    template: str
    url: str
    title: str = ""
    rank: int = 0
    number: int = 0
    period: int = 0
    stage: Stage = Stage.FOUND
    chance: float = 0.0
    useful: int = 0
    crawled: int = 0
    visits: dict[str, Visit] = field(default_factory=dict)

    def current(self) -> Iterator[Visit]:
        """Return the visits of this period."""
        return (one for one in self.visits.values() if one.period == self.period)

    @property
    def open(self) -> list[str]:
        """Names of the unfinished visits."""
        return [n for n, v in self.visits.items() if v.period == self.period and v.state == "open"]

    def add(self, page: Visit) -> str | None:
        """Add a page to this period; return the name of its visit, or None if it exists already."""
        name = name_of(self.url, page.layer, page.url)
        known = self.visits.get(name, page)
        if known.period == self.period:
            return None
        self.visits[name] = replace(
            known, layer=page.layer, hop=page.hop, place=sum(1 for _ in self.current()),
            period=self.period, state=State.OPEN,
        )  # fmt: skip
        return name

    def requests(self, names: Iterable[str], version: int) -> list[PageRequest]:
        """Return the requests for visits, with this version of the template."""
        return [PageRequest(self.url, name, self.visits[name], version) for name in names]

    def prune(self, last: int) -> None:
        """Remove pages that no later period requests: old pages with links, and gone pages."""
        self.visits = {
            name: one
            for name, one in self.visits.items()
            if one.period == self.period or (one.layer == last and one.state is not State.GONE)
        }

    def vanished(self, last: int) -> list[Visit]:
        """Return pages of the last layer to which no page of this period links any more."""
        return [
            one
            for one in self.visits.values()
            if one.layer == last and one.period < self.period and one.state is not State.GONE
        ]


PERIODS = DocumentKind("template_periods", tuple(one.name for one in fields(Period)), key=2)
SEEDS = DocumentKind(
    "template_seeds",
    tuple(one.name for one in fields(Seed)),
    key=2,
    nested=frozenset({"visits"}),
    indexes=(
        ("template", "stage", "number"),
        ("template", "period", "number", "stage", "chance", "useful"),
    ),
)


class Periods(DocumentStore):
    """Store of periods and seeds. All methods but ``close`` raise StorageError; all are idempotent.

    Args:
        storage: The configured storage.
    """

    def __init__(self, storage: Storage) -> None:
        super().__init__(storage.documents(PERIODS, SEEDS))

    async def last(self, template: str) -> Period | None:
        """Return the latest period of a template, or None."""
        found = await self._documents.find(PERIODS, {"template": template}, order=("number",))
        return Period(**{**found[-1], "phase": Phase(found[-1]["phase"])}) if found else None

    async def put(self, period: Period) -> None:
        """Insert a period, or replace the one with the same number."""
        await self._documents.put({PERIODS: [asdict(period)]})

    async def save(self, seeds: Sequence[Seed]) -> None:
        """Insert or replace seeds; they are durable when this returns."""
        await self._documents.put({SEEDS: [asdict(seed) for seed in seeds]})

    async def get(self, template: str, urls: Sequence[str]) -> dict[str, Seed]:
        """Return the stored seeds among the URLs."""
        found = await self._documents.get(SEEDS, [(template, url) for url in urls])
        return {seed.url: seed for seed in map(_seed, found)}

    async def select(
        self, template: str, stage: Stage, limit: int, *, period: int = 0, rank: bool = False,
        useful: bool = False,
    ) -> list[Seed]:  # fmt: skip
        """Return up to ``limit`` seeds of a stage, by number or by rank.

        Args:
            template: Name of the template.
            stage: Stage of the seeds.
            limit: Maximum number of seeds.
            period: Only seeds of this period; 0: of any period.
            rank: Order by rank instead of number.
            useful: Only seeds with records.
        """
        where: dict[str, Any] = {"template": template, "stage": stage, "useful": Span(int(useful))}
        if period:
            where["period"] = period
        order = ("rank" if rank else "number", "url")
        return [
            _seed(o) for o in await self._documents.find(SEEDS, where, order=order, limit=limit)
        ]

    async def outcomes(self, template: str, period: int) -> list[tuple[int, Stage, float, int]]:
        """Return number, stage, probability and record count of each seed in a period's list."""
        where = {"template": template, "period": period, "number": Span(1)}
        names = ("number", "stage", "chance", "useful")
        found = await self._documents.find(SEEDS, where, order=("number",), fields=names)
        return [(o["number"], Stage(o["stage"]), o["chance"], o["useful"]) for o in found]


def _seed(document: Document) -> Seed:
    visits = {name: Visit.from_values(one) for name, one in document["visits"].items()}
    return Seed(**{**document, "stage": Stage(document["stage"]), "visits": visits})
