"""Progress of template crawls: their periods, and their seeds with the pages fetched for each.

A seed and its pages are one value, written at once: after a kill, the seed is as it was after one
of its pages. One process crawls a template at a time.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from topiccrawl.storage.documents import DocumentKind, DocumentStore, Span

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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

    FOUND by the search, not numbered yet; WAITING for its draw; OPEN: its pages are fetched; AGAIN:
    missing pages are requested once more at the end; DONE; FAILED: its own page could not be
    fetched; SKIPPED by the random draw, offered again in the next period.
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
    """One period of a template; times are seconds since the epoch, 0 if there is none.

    Attributes:
        template: Name of the template.
        number: Number of the period, from 1.
        phase: Its current phase.
        started: When it began.
        finished: When it ended.
        total: Seeds in its list.
    """

    template: str
    number: int
    phase: Phase = Phase.SEARCHING
    started: float = 0.0
    finished: float = 0.0
    total: int = 0


@dataclass(frozen=True, slots=True)
class Seed:
    """A seed and the pages fetched for it.

    Attributes:
        template: Name of the template.
        url: Canonical URL.
        title: Its title in the search results.
        rank: Its rank in the search results.
        number: Its number in the period's list, from 1; 0 before it has one.
        period: Last period whose list contains it.
        stage: Its stage in that period.
        chance: Probability with which it was drawn, in [0, 1]; 0 before.
        useful: Number of records that it gave.
        crawled: Last period in which it was crawled to its end; 0 for none.
        visits: Its pages by name, as JSON values (``addons.records.periods.visits.Visit``).
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
    visits: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


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
    """Periods and seeds, in the store. All but ``close`` raise StorageError; all are idempotent.

    Args:
        storage: Where they are stored.
    """

    def __init__(self, storage: Storage) -> None:
        super().__init__(storage.documents(PERIODS, SEEDS))

    async def last(self, template: str) -> Period | None:
        """Return the period that began last."""
        found = await self._documents.find(PERIODS, {"template": template}, order=("number",))
        return Period(**{**found[-1], "phase": Phase(found[-1]["phase"])}) if found else None

    async def put(self, period: Period) -> None:
        """Insert a period, or replace the one of its number."""
        await self._documents.put({PERIODS: [asdict(period)]})

    async def save(self, seeds: Sequence[Seed]) -> None:
        """Insert or replace seeds; after the return they survive kill -9."""
        await self._documents.put({SEEDS: [asdict(seed) for seed in seeds]})

    async def get(self, template: str, urls: Sequence[str]) -> dict[str, Seed]:
        """Return the seeds of those URLs that are stored."""
        found = await self._documents.get(SEEDS, [(template, url) for url in urls])
        return {seed.url: seed for seed in map(_seed, found)}

    async def select(
        self, template: str, stage: Stage, limit: int, *, period: int = 0, rank: bool = False,
        useful: bool = False,
    ) -> list[Seed]:  # fmt: skip
        """Return up to ``limit`` seeds of a stage by number, or by rank.

        Only of one period, if not 0; with ``useful`` only those that gave records.
        """
        where: dict[str, Any] = {"template": template, "stage": stage, "useful": Span(int(useful))}
        if period:
            where["period"] = period
        order = ("rank" if rank else "number", "url")
        return [
            _seed(o) for o in await self._documents.find(SEEDS, where, order=order, limit=limit)
        ]

    async def outcomes(self, template: str, period: int) -> list[tuple[int, Stage, float, int]]:
        """Return number, stage, chance and record count of each seed in a period's list."""
        where = {"template": template, "period": period, "number": Span(1)}
        names = ("number", "stage", "chance", "useful")
        found = await self._documents.find(SEEDS, where, order=("number",), fields=names)
        return [(o["number"], Stage(o["stage"]), o["chance"], o["useful"]) for o in found]


def _seed(document: Document) -> Seed:
    return Seed(**{**document, "stage": Stage(document["stage"])})
