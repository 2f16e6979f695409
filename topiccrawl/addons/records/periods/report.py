"""Progress line and summary of a period, as text."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from topiccrawl.addons.records.periods.periods import Phase, Stage
from topiccrawl.addons.records.periods.sampling import estimate_skipped

if TYPE_CHECKING:
    from topiccrawl.addons.records.periods.controller import PeriodController


def progress_line(controller: PeriodController) -> str:
    """Return the progress line."""
    counts, seeds = controller.counts, controller.seeds
    if seeds.period.phase is Phase.SEARCHING:
        return f"period {seeds.period.number} searching · {counts['results']} results in this run"
    return (
        f"period {seeds.period.number} {seeds.period.phase} · seeds {seeds.finished}"
        f"/{seeds.period.total} ({seeds.skipped} skipped) · "
        f"{counts['pages']} pages · {counts['records/new']} new records, "
        f"{counts['records/changed']} changed, {counts['records/gone']} gone"
    )


async def summary_lines(controller: PeriodController) -> list[str]:
    """Return the summary: outcomes of seeds and records, and an estimate for skipped seeds."""
    outcomes = await controller.seeds.outcomes()
    stages = Counter(stage for _, stage, _, _ in outcomes)
    crawled = [
        (chance, bool(useful) and stage is Stage.DONE)
        for _, stage, chance, useful in outcomes
        if stage in {Stage.DONE, Stage.FAILED}
    ]
    useful = sum(1 for _, good in crawled if good)
    skipped = estimate_skipped(stages[Stage.SKIPPED], crawled)
    period, counts = controller.period, controller.counts
    tally = await controller.stores.records.count_changes(controller.template.name, period.started)
    if period.phase is Phase.SEARCHING:
        found = (
            f"searching: {counts['results']} results in this run; repeat the command to continue"
        )
        return [f"  period {period.number}   {found}"]
    waiting = sum(stages[one] for one in (Stage.WAITING, Stage.OPEN, Stage.AGAIN))
    lines = [
        (
            f"  period {period.number}   {period.phase}: {len(outcomes)} seeds, "
            f"{len(crawled)} crawled ({useful} useful, {stages[Stage.FAILED]} failed), "
            f"{waiting} remaining"
        ),
        (
            f"  records    {tally['here']} stored; in this period {tally['new']} new, "
            f"{tally['changed']} changed, {tally['gone']} gone"
        ),
        (
            f"  pages      {counts['pages']} in this run, {counts['pages/unchanged']} unchanged, "
            f"{counts['pages/missing']} missing, {counts['pages/failed']} failed"
        ),
    ]
    if skipped.skipped:
        lines.append(
            f"  sampling   {skipped.skipped} seeds skipped until the next period; about "
            f"{skipped.useful:.0f} of them would have been useful"
        )
    return lines
