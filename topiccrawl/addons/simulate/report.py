"""Comparison of harvests: text tables, and figures for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.addons.simulate.harvest import BASELINE, STEPS, Case, Harvest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


Areas = dict[str, dict[str, float]]
"""Area by strategy, then by topic."""

SET = "set "
"""Prefix of the number of a sampled set of start pages in the name of a topic."""


def table(case: Case, harvests: Sequence[Harvest]) -> list[str]:
    """Return a comparison of strategies on one topic, as lines.

    Recall is reported at fractions of the budget.
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
    """Return a comparison of strategies over several topics, as lines.

    The percentage is relative to the distance between best-first and the oracle (area 1). The
    spread is the mean range of a topic's areas over different start pages.

    >>> print(*summary({"best-first": {"a": 0.5, "b": 0.75}, "bfs": {"a": 0.25, "b": 0.25}}),
    ...     sep=chr(10))
    mean area over 2 topics
      best-first        0.625, worst topic 0.500
      bfs               0.250, worst topic 0.250   -0.375 to best-first (-100%), -0.500 at worst
    """
    lines = [f"mean area over {len(next(iter(areas.values())))} topics"]
    for name, by_topic in areas.items():
        line = f"  {name:<16}{_mean(by_topic):>7.3f}, worst topic {min(by_topic.values()):.3f}"
        if spread := _spread(by_topic):
            line += f", spread {spread:.3f}"
        if name != BASELINE and (gains := _gains(areas, name)):
            gain, left = sum(gains) / len(gains), 1 - _mean(areas[BASELINE])
            closed = f" ({gain / left:.0%})" if left > 0 else ""
            line += f"   {gain:+.3f} to {BASELINE}{closed}, {min(gains):+.3f} at worst"
        lines.append(line)
    return lines


def comparison(webs: Mapping[str, Areas]) -> list[str]:
    """Return a comparison of strategies per collection and over all collections, as lines."""
    if len(webs) == 1:
        return summary(merged(webs))
    lines = []
    for name, areas in (*webs.items(), ("all", merged(webs))):
        first, *others = summary(areas)
        lines += [f"{name}: {first}", *others]
    return lines


def merged(webs: Mapping[str, Areas]) -> Areas:
    """Merge the areas of all collections; topics of several get the collection as a prefix."""
    if len(webs) == 1:
        return next(iter(webs.values()))
    areas: Areas = {}
    for web, its in webs.items():
        for name, by_topic in its.items():
            prefix = web.partition(".")[0]
            found = {f"{prefix}/{topic}": area for topic, area in by_topic.items()}
            areas.setdefault(name, {}).update(found)
    return areas


def _spread(by_topic: Mapping[str, float]) -> float:
    """Return the mean range of the areas of a topic; 0 with one set of start pages."""
    sets: dict[str, list[float]] = {}
    for topic, area in by_topic.items():
        sets.setdefault(topic.partition(f" {SET}")[0], []).append(area)
    return sum(max(found) - min(found) for found in sets.values()) / len(sets)


def figures(areas: Areas, ours: str) -> dict[str, float]:
    """Return figures of the strategy ``ours`` (or the first one), and mean areas of all."""
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
