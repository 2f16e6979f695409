"""Comparison of harvests: text tables, figures for JSON, and curves.

Curves are a self-contained HTML page with inline SVG and tables.
"""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING

from topiccrawl.addons.simulate.harvest import BASELINE, STEPS, Case, Harvest
from topiccrawl.messages import counted
from topiccrawl.storage.formats import template

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Areas = dict[str, dict[str, float]]
"""Area by strategy, then by topic."""

SET = "set "
"""Prefix of the number of a sampled set of start pages in the name of a topic."""

Judged = tuple["Case", "Sequence[Harvest]"]
"""A topic and the harvest of each strategy."""
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Colours that are distinguishable with colour blindness (Okabe and Ito 2008)."""
ORACLE = "#999999"
POINTS = 300
"""Maximum number of points of a curve."""
WIDTH, HEIGHT = 640, 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 150, 16, 44
_PACKAGE = "topiccrawl.addons.simulate"


def table(case: Case, harvests: Sequence[Harvest]) -> list[str]:
    """Return a comparison of strategies on one topic, as lines.

    Recall is reported at fractions of the budget.
    """
    width = _width(one.name for one in harvests)
    shares = "".join(f"{step:>7.0%}" for step in STEPS)
    lines = [
        (
            f"{case.topic.name}: {case.total} relevant of {case.reachable} reachable pages, "
            f"{case.budget} fetched"
        ),
        f"  {'strategy':<{width}}{'found':>7}{'rate':>7}  recall at{shares} of them{'area':>8}",
    ]
    for one in harvests:
        recalls = "".join(f"{one.recall(step, case.total):>7.3f}" for step in STEPS)
        start = f"  {one.name:<{width}}{one.found:>7}{one.rate:>7.3f}"
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
    width = _width(areas)
    lines = [counted("mean area over {topics} topics", topics=len(next(iter(areas.values()))))]
    for name, by_topic in areas.items():
        line = f"  {name:<{width}}{_mean(by_topic):>7.3f}, worst topic {min(by_topic.values()):.3f}"
        if spread := _spread(by_topic):
            line += f", spread {spread:.3f}"
        if name != BASELINE and (gains := _gains(areas, name)):
            gain, left = sum(gains) / len(gains), 1 - _mean(areas[BASELINE])
            closed = f" ({gain / left:.0%})" if left > 0 else ""
            line += f"   {gain:+.3f} to {BASELINE}{closed}, {min(gains):+.3f} at worst"
        lines.append(line)
    return lines


def _width(names: Iterable[str]) -> int:
    return max(16, *map(len, names))


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


def _sampled(points: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return a sample of the points (fetched, found) of a curve, with the first and last one."""
    step = max(1, -(-len(points) // POINTS))
    return [(0, 0), *points[::step], *points[-1:]]


def page(title: str, judged: Sequence[Judged]) -> str:
    """Return a self-contained HTML page."""
    return template(_PACKAGE, "templates/page.html").render(
        title=title, judged=judged, svg=svg, table=table
    )


def svg(case: Case, harvests: Sequence[Harvest]) -> str:
    """Return the curves of one topic as an SVG element."""
    top = max([one.found for one in harvests] + [found for _, found in case.oracle] + [1])
    lines = [
        (one.name, colour, "", _sampled(list(enumerate(one.counts, 1))))
        for colour, one in zip(cycle(COLOURS), harvests, strict=False)
    ]
    if points := [point for point in case.oracle if point[0] <= case.budget]:
        lines.append(("oracle", ORACLE, ' stroke-dasharray="5 4"', _sampled(points)))
    return template(_PACKAGE, "templates/curves.svg").render(
        name=case.topic.name, lines=lines, budget=case.budget, top=top, width=WIDTH, height=HEIGHT,
        x=lambda fetched: _LEFT + fetched / case.budget * (WIDTH - _LEFT - _RIGHT),
        y=lambda found: HEIGHT - _BOTTOM - found / top * (HEIGHT - _TOP - _BOTTOM),
    )  # fmt: skip
