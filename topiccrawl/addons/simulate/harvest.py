"""Harvest curves of replays, and the areas under them."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.addons.simulate.collection import OK, RecordedWeb, key
from topiccrawl.addons.simulate.oracle import Graph, oracle_curve, spread

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from topiccrawl.addons.simulate.truth import Labelled
    from topiccrawl.topics import Scorer
    from topiccrawl.topics.topic import Topic

STEPS = (0.05, 0.1, 0.25, 0.5, 1.0)
"""Shares of the budget at which recall is reported."""
BASELINE = "best-first"
"""The strategy that others are compared with."""


class Case(NamedTuple):
    """Criteria that replays for one topic are judged by.

    Attributes:
        topic: The topic, seeds included.
        relevant: Keys of the pages that count.
        budget: Fetched pages that are judged.
        reachable: Pages that links lead to from the seeds.
        total: Relevant ones among them.
        oracle: Relevant pages after each of so many fetches by a crawler that knows everything:
            (fetches, found), not necessarily all of them.
        oracle_area: Sum of its counts over the budget.
        reference: Areas of other crawlers, by name, as far as they are known.
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
    """Result of one strategy.

    Attributes:
        name: The strategy's.
        counts: Relevant pages after each of the budget's fetches; a crawl that ends early keeps
            its last count.
        pages: Pages fetched, up to the budget.
        area: Area under ``counts`` over the oracle's, 1 is as good as knowing everything.
    """

    name: str
    counts: tuple[int, ...]
    pages: int
    area: float

    @property
    def found(self) -> int:
        """Relevant pages fetched."""
        return self.counts[-1] if self.counts else 0

    @property
    def rate(self) -> float:
        """Relevant among the fetched pages, in [0, 1]."""
        return self.found / self.pages if self.pages else 0.0

    def recall(self, share: float, total: int) -> float:
        """Share of ``total`` relevant pages found after a share of the budget, in [0, 1]."""
        at = max(1, round(len(self.counts) * share))
        return self.counts[at - 1] / total if total and self.counts else 0.0


def harvest(name: str, fetched: Iterable[str], case: Case) -> Harvest:
    """Judge the keys of fetched pages, in their order.

    >>> case = Case(None, frozenset({"b"}), 3, 3, 1, (), 2.0)  # type: ignore[arg-type]
    >>> harvest("bfs", ["a", "b"], case)
    Harvest(name='bfs', counts=(0, 1, 1), pages=2, area=1.0)
    """
    hits = [page in case.relevant for page in dict.fromkeys(fetched)][: case.budget]
    counts = list(accumulate(hits, initial=0))[1:]
    counts += [counts[-1] if counts else 0] * (case.budget - len(hits))
    area = sum(counts) / case.oracle_area if case.oracle_area else 0.0
    return Harvest(name, tuple(counts), len(hits), area)


def labelled_case(web: RecordedWeb, labelled: Labelled, budget: int | None = None) -> Case:
    """Build the case from the labels of pages.

    The oracle is the one stored with the topic, where there is one for that budget.
    """
    relevant = web.relevant(labelled.relevant)
    whole = labelled.budget is not None and labelled.oracle_area is not None
    if not whole or budget not in {None, labelled.budget}:
        own = case_of(web, labelled.topic, relevant, budget or labelled.budget)
        return own._replace(reference=labelled.reference)
    assert labelled.budget is not None  # noqa: S101  (``whole``)
    assert labelled.oracle_area is not None  # noqa: S101
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


def own_case(web: RecordedWeb, topic: Topic, scorer: Scorer, budget: int | None = None) -> Case:
    """Build the case without labels, from the topic's own verdict on each page."""
    relevant = {name for name in _reached(web, topic.seeds) if _on_topic(web, name, scorer)}
    return case_of(web, topic, frozenset(relevant), budget)


def _on_topic(web: RecordedWeb, name: str, scorer: Scorer) -> bool:
    page = web.page(name) if web.pages[name].status == OK else None
    return page is not None and scorer.score_page(page).relevant


def case_of(web: RecordedWeb, topic: Topic, relevant: frozenset[str], budget: int | None) -> Case:
    """Return a case with an own oracle (greedy, see ``oracle``); half of what is reachable."""
    reached = _reached(web, topic.seeds)
    budget = budget or max(1, len(reached) // 2)
    numbers = {name: number for number, name in enumerate(reached)}
    onward = [[numbers[name] for name in _onward(web, page)] for page in reached]
    wanted = frozenset(numbers[name] for name in relevant if name in numbers)
    seeds = tuple(numbers[name] for name in map(key, topic.seeds) if name in numbers)
    curve = oracle_curve(Graph(onward, wanted, seeds), budget)
    points = tuple(enumerate(curve, 1))
    return Case(topic, relevant, budget, len(reached), len(wanted), points, sum(curve))


def _reached(web: RecordedWeb, seeds: Sequence[str]) -> list[str]:
    """Keys of the pages that links lead to from the seeds, seeds included."""
    names = list(web.pages)
    numbers = {name: number for number, name in enumerate(names)}
    first = [numbers[name] for name in map(key, seeds) if name in numbers]
    found = spread(len(names), first, lambda n: [numbers[to] for to in _onward(web, names[n])])
    return [name for name, depth in zip(names, found.depth, strict=True) if depth >= 0]


def _onward(web: RecordedWeb, name: str) -> list[str]:
    """Recorded pages that a page leads to."""
    recorded = web.pages[name]
    if recorded.status != OK:
        targets = [recorded.target] if recorded.target else []
    else:
        page = web.page(name)
        targets = [link.url for link in page.links] if page else []
    return [to for to in dict.fromkeys(map(key, targets)) if to in web.pages]
