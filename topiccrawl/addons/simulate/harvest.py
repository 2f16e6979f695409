"""Harvest curves of replays, and the areas under them."""

from __future__ import annotations

from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.addons.simulate.collection import OK, RecordedWeb, key
from topiccrawl.addons.simulate.oracle import Graph, find_reach, oracle_curve

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from topiccrawl.addons.simulate.truth import LabelledTopic
    from topiccrawl.topics import Scorer
    from topiccrawl.topics.topic import Topic

STEPS = (0.05, 0.1, 0.25, 0.5, 1.0)
"""Fractions of the budget at which recall is reported."""
BASELINE = "best-first"
"""The strategy that others are compared with."""


class Case(NamedTuple):
    """Criteria by which replays of a topic are judged.

    Attributes:
        topic: The topic with its seeds.
        relevant: Keys of the relevant pages.
        budget: Number of fetched pages that are judged.
        reachable: Number of pages reachable from the seeds.
        total: Number of relevant pages among them.
        oracle: Points (fetches, relevant pages found) of the oracle's curve.
        oracle_area: Sum of the oracle's counts over all fetches of the budget.
        reference: Known areas of other crawlers by name.
    """

    topic: Topic
    relevant: frozenset[str]
    budget: int
    reachable: int
    total: int
    oracle: tuple[tuple[int, int], ...]
    oracle_area: float
    reference: Mapping[str, float] = {}


class Harvest(NamedTuple):
    """Result of a strategy.

    Attributes:
        name: Name of the strategy.
        counts: Number of relevant pages after each fetch of the budget; the last count is repeated
            if the crawl ended early.
        pages: Number of fetched pages, at most the budget.
        area: Area under ``counts`` relative to that of the oracle; 1 is as good as the oracle.
    """

    name: str
    counts: tuple[int, ...]
    pages: int
    area: float

    @property
    def found(self) -> int:
        """Number of relevant pages fetched."""
        return self.counts[-1] if self.counts else 0

    @property
    def rate(self) -> float:
        """Share of relevant pages among the fetched ones, in [0, 1]."""
        return self.found / self.pages if self.pages else 0.0

    def recall(self, share: float, total: int) -> float:
        """Return the recall in [0, 1] after a fraction of the budget, of ``total`` pages."""
        at = max(1, round(len(self.counts) * share))
        return self.counts[at - 1] / total if total and self.counts else 0.0


def harvest(name: str, fetched: Iterable[str], case: Case) -> Harvest:
    """Return the harvest of fetched pages, given by their keys in order.

    >>> case = Case(None, frozenset({"b"}), 3, 3, 1, (), 2.0)  # type: ignore[arg-type]
    >>> harvest("bfs", ["a", "b"], case)
    Harvest(name='bfs', counts=(0, 1, 1), pages=2, area=1.0)
    """
    hits = [page in case.relevant for page in dict.fromkeys(fetched)][: case.budget]
    counts = list(accumulate(hits, initial=0))[1:]
    counts += [counts[-1] if counts else 0] * (case.budget - len(hits))
    area = sum(counts) / case.oracle_area if case.oracle_area else 0.0
    return Harvest(name, tuple(counts), len(hits), area)


def labelled_case(web: RecordedWeb, labelled: LabelledTopic, budget: int | None = None) -> Case:
    """Build the case from the labels of pages.

    The oracle stored with the topic is used if it has the same budget.
    """
    relevant = web.relevant(labelled.relevant)
    if not labelled.budget or not labelled.oracle_area or budget not in {None, labelled.budget}:
        own = build_case(web, labelled.topic, relevant, budget or labelled.budget)
        return own._replace(reference=labelled.reference)
    step = labelled.oracle_step
    return Case(
        labelled.topic,
        relevant,
        labelled.budget,
        labelled.reachable or len(web.pages),
        labelled.reachable_relevant or len(relevant),
        tuple((n * step + 1, found) for n, found in enumerate(labelled.oracle)),
        labelled.oracle_area,
        labelled.reference,
    )


def unlabelled_case(
    web: RecordedWeb, topic: Topic, scorer: Scorer, budget: int | None = None
) -> Case:
    """Build the case without labels; pages are judged by the topic itself."""
    relevant = {name for name in _reachable(web, topic.seeds) if _on_topic(web, name, scorer)}
    return build_case(web, topic, frozenset(relevant), budget)


def _on_topic(web: RecordedWeb, name: str, scorer: Scorer) -> bool:
    page = web.page(name) if web.pages[name].status == OK else None
    return page is not None and scorer.score_page(page).relevant


def build_case(
    web: RecordedWeb, topic: Topic, relevant: frozenset[str], budget: int | None
) -> Case:
    """Build a case with a computed oracle; the default budget is half of the reachable pages."""
    reached = _reachable(web, topic.seeds)
    budget = budget or max(1, len(reached) // 2)
    wanted = relevant.intersection(reached)
    seeds = [name for name in map(key, topic.seeds) if name in web.pages]
    graph = Graph({name: _targets(web, name) for name in reached}, wanted, seeds)
    curve = oracle_curve(graph, budget)
    points = tuple(enumerate(curve, 1))
    return Case(topic, relevant, budget, len(reached), len(wanted), points, sum(curve))


def _reachable(web: RecordedWeb, seeds: Sequence[str]) -> list[str]:
    """Return the keys of the pages reachable from the seeds, including the seeds."""
    first = [name for name in map(key, seeds) if name in web.pages]
    found = find_reach(first, partial(_targets, web))
    return [name for name in web.pages if name in found.depth]


def _targets(web: RecordedWeb, name: str) -> list[str]:
    """Return the keys of recorded pages to which a page links or redirects."""
    recorded = web.pages[name]
    if recorded.status != OK:
        targets = [recorded.target] if recorded.target else []
    else:
        page = web.page(name)
        targets = [link.url for link in page.links] if page else []
    return [to for to in dict.fromkeys(map(key, targets)) if to in web.pages]
