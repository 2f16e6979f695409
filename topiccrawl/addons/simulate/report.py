"""Harvests side by side: lines for a terminal, and figures for a machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.addons.simulate.harvest import BASELINE, STEPS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from topiccrawl.addons.simulate.harvest import Case, Harvest

Areas = dict[str, dict[str, float]]
"""Area by strategy, then by topic."""


def table(case: Case, harvests: Sequence[Harvest]) -> list[str]:
    """Return the lines that compare strategies on one topic.

    Recall is reported at shares of the budget.
    """
    shares = "".join(f"{step:>7.0%}" for step in STEPS)
    lines = [
        (
            f"{case.topic.name}: {case.total} relevant of {case.reachable} reachable pages, "
            f"{case.budget} fetched"
        ),
        f"  {'strategy':<16}{'found':>7}{'rate':>7}  recall at{shares} of them{'area':>7}",
    ]
    for one in harvests:
        recalls = "".join(f"{one.recall(step, case.total):>7.3f}" for step in STEPS)
        start = f"  {one.name:<16}{one.found:>7}{one.rate:>7.3f}"
        lines.append(f"{start}{'':>11}{recalls}{'':>8}{one.area:>8.3f}")
    if case.reference:
        known = ", ".join(f"{name} {area:g}" for name, area in case.reference.items())
        lines.append(f"  stored areas: {known}")
    return lines


def summary(areas: Areas) -> list[str]:
    """Return the lines that compare strategies over several topics.

    >>> print(*summary({"best-first": {"a": 0.5, "b": 0.75}, "bfs": {"a": 0.25, "b": 0.25}}),
    ...     sep=chr(10))
    mean area over 2 topics
      best-first        0.625
      bfs               0.250   -0.375 to best-first, -0.500 at worst
    """
    lines = [f"mean area over {len(next(iter(areas.values())))} topics"]
    for name, by_topic in areas.items():
        line = f"  {name:<16}{_mean(by_topic):>7.3f}"
        if name != BASELINE and (gains := _gains(areas, name)):
            line += f"   {sum(gains) / len(gains):+.3f} to {BASELINE}, {min(gains):+.3f} at worst"
        lines.append(line)
    return lines


def figures(areas: Areas, ours: str) -> dict[str, float]:
    """Return one flat object of figures: of ``ours``, or of the first strategy without it."""
    ours = ours if ours in areas else next(iter(areas))
    flat = {"mean_area": _mean(areas[ours])}
    if gains := _gains(areas, ours):
        flat["mean_minus_best_first"] = sum(gains) / len(gains)
        flat["worst_minus_best_first"] = min(gains)
    flat |= {f"area.{topic}": area for topic, area in areas[ours].items()}
    flat |= {f"mean_area.{name}": _mean(found) for name, found in areas.items()}
    return {name: round(value, 4) for name, value in flat.items()}


def _mean(by_topic: Mapping[str, float]) -> float:
    return sum(by_topic.values()) / len(by_topic)


def _gains(areas: Areas, name: str) -> list[float]:
    base = areas.get(BASELINE)
    return [area - base[topic] for topic, area in areas[name].items()] if base else []
