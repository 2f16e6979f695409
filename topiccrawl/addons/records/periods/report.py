"""Summary of a period, for people."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from topiccrawl.addons.records.periods.chance import outlook
from topiccrawl.addons.records.periods.periods import Phase, Stage

if TYPE_CHECKING:
    from topiccrawl.addons.records.periods.conductor import Conductor


def progress_of(conductor: Conductor) -> str:
    """The progress line."""
    counts, seeds = conductor.counts, conductor.seeds
    if seeds.period.phase is Phase.SEARCHING:
        return f"period {seeds.period.number} searching · {counts['results']} results in this run"
    return (
        f"period {seeds.period.number} {seeds.period.phase} · seeds {seeds.finished}"
        f"/{seeds.period.total} ({seeds.skipped} passed over) · "
        f"{counts['pages']} pages · {counts['records/new']} new records, "
        f"{counts['records/changed']} changed, {counts['records/gone']} gone"
    )


async def lines_of(conductor: Conductor) -> list[str]:
    """Return lines on the outcomes of seeds and records, and on what chance may have missed."""
    outcomes = await conductor.seeds.outcomes()
    stages = Counter(stage for _, stage, _, _ in outcomes)
    crawled = [
        (chance, bool(useful) and stage is Stage.DONE)
        for _, stage, chance, useful in outcomes
        if stage in {Stage.DONE, Stage.FAILED}
    ]
    useful = sum(1 for _, good in crawled if good)
    passed = outlook(stages[Stage.SKIPPED], crawled)
    period, counts = conductor.period, conductor.counts
    tally = await conductor.stores.records.tally(conductor.template.name, period.started)
    if period.phase is Phase.SEARCHING:
        found = f"searching: {counts['results']} results in this run; the same command goes on"
        return [f"  period {period.number}   {found}"]
    waiting = sum(stages[one] for one in (Stage.WAITING, Stage.OPEN, Stage.AGAIN))
    lines = [
        (
            f"  period {period.number}   {period.phase}: {len(outcomes)} seeds, "
            f"{len(crawled)} crawled ({useful} useful, {stages[Stage.FAILED]} not reached), "
            f"{waiting} left"
        ),
        (
            f"  records    {tally['here']} here; in this period {tally['new']} new, "
            f"{tally['changed']} changed, {tally['gone']} gone"
        ),
        (
            f"  pages      {counts['pages']} in this run, {counts['pages/unchanged']} unchanged, "
            f"{counts['pages/missing']} not there, {counts['pages/failed']} failed"
        ),
    ]
    if passed.skipped:
        lines.append(
            f"  by chance  {passed.skipped} seeds passed over until the next period; about "
            f"{passed.useful:.0f} of them would have been useful"
        )
    return lines
