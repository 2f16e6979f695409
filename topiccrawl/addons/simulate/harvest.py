"""Harvest curves of replays, the areas under them, and a greedy oracle as their reference.

Labelled topics, from files, list the labels of the relevant pages of a collection.
"""

from __future__ import annotations

import json
from collections import defaultdict, deque
from functools import partial
from itertools import accumulate, repeat
from typing import TYPE_CHECKING, Annotated, Generic, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from topiccrawl.addons.simulate.collection import OK, RecordedWeb, key
from topiccrawl.errors import ConfigurationError, translated
from topiccrawl.messages import message
from topiccrawl.topics.topic import Topic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from topiccrawl.topics import Scorer

Count = Annotated[int, Field(gt=0)]

T = TypeVar("T")
STEPS = (0.05, 0.1, 0.25, 0.5, 1.0)
"""Fractions of the budget at which recall is reported."""
BASELINE = "best-first"
"""The strategy that others are compared with."""


class LabelledTopic(BaseModel):
    """A topic and the labels of its pages; other keys of the file are ignored.

    Attributes:
        name: Name of the topic.
        terms: Terms of the topic, with or without weights.
        seeds: Start URLs.
        relevant: Labels of relevant pages; they include sublabels (``sport.football``).
        budget: Number of judged pages; None: half of the reachable ones.
        reachable: Number of pages reachable from the seeds.
        reachable_relevant: Number of relevant pages among them.
        oracle: Number of relevant pages found by the oracle after 1, 1 + ``oracle_step``, ...
            fetches.
        oracle_step: Number of fetches between two values of ``oracle``.
        oracle_area: Sum of the oracle's counts over all fetches of the budget.
        reference: Areas of other crawlers by name.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str
    terms: dict[str, float] | tuple[str, ...]
    seeds: Annotated[tuple[str, ...], Field(min_length=1)]
    relevant: tuple[str, ...]
    budget: Count | None = None
    reachable: Count | None = None
    reachable_relevant: int | None = None
    oracle: tuple[int, ...] = ()
    oracle_step: Count = 1
    oracle_area: Annotated[float, Field(gt=0)] | None = None
    reference: dict[str, float] = {}

    @property
    def topic(self) -> Topic:
        """The topic as used by a crawl."""
        terms = self.terms if isinstance(self.terms, dict) else list(self.terms)
        return Topic.model_validate({"name": self.name, "terms": terms, "seeds": self.seeds})


def read_truth(path: Path) -> dict[str, LabelledTopic]:
    """Return the topics of a file by name, in file order.

    Raises:
        ConfigurationError: If the file is invalid; with file, field and error.
    """
    unreadable = message("{path}: cannot be read: {strerror}; pass a *.topics.json file")
    with translated(ConfigurationError, unreadable, path=path):
        data = path.read_bytes()
    try:
        values = json.loads(data.decode("utf-8"))
        found = TypeAdapter(list[LabelledTopic]).validate_python(values)
        for labelled in found:
            _ = labelled.topic
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ConfigurationError(
            "{path}: {where}: {msg}", path=path, where=where, msg=first["msg"]
        ) from error
    except ValueError as error:
        raise ConfigurationError("{path}: is not JSON: {error}", path=path, error=error) from error
    return {labelled.name: labelled for labelled in found}


class Graph(NamedTuple, Generic[T]):
    """A link graph with relevant nodes.

    Attributes:
        targets: For each node, the nodes to which it links, in page order.
        relevant: Relevant nodes.
        seeds: Start nodes.
    """

    targets: Mapping[T, Sequence[T]]
    relevant: AbstractSet[T]
    seeds: Sequence[T]


class Reach(NamedTuple, Generic[T]):
    """Result of a breadth-first search, in the order of discovery.

    Attributes:
        depth: Number of links (including redirects) of each reachable node from the nearest seed.
        parent: Node on which each node but the seeds was first found.
    """

    depth: dict[T, int]
    parent: dict[T, T]


def find_reach(seeds: Iterable[T], targets: Callable[[T], Iterable[T]]) -> Reach[T]:
    """Return depth and parent of the reachable nodes of a graph, by breadth-first search.

    >>> find_reach("a", {"a": "bc", "b": "c", "c": "", "d": "a"}.__getitem__).depth
    {'a': 0, 'b': 1, 'c': 1}
    """
    found = Reach(dict.fromkeys(seeds, 0), {})
    waiting = deque(found.depth)
    while waiting:
        node = waiting.popleft()
        for target in targets(node):
            if target not in found.depth:
                found.depth[target] = found.depth[node] + 1
                found.parent[target] = node
                waiting.append(target)
    return found


def oracle_curve(graph: Graph[T], budget: int) -> list[int]:
    """Return the relevant pages found after each fetch by a greedy crawler that knows the graph.

    It fetches a linked relevant page if there is one, and otherwise follows the shortest path to
    one. The greedy order is not optimal; it is the reference for other crawlers.

    >>> chain = Graph({0: [1, 2], 1: [], 2: [3], 3: []}, {3}, [0])
    >>> oracle_curve(chain, 4)
    [0, 0, 1, 1]
    """
    hits = _oracle(graph, budget)
    return list(accumulate([*hits, *repeat(0, budget)]))[:budget]


def _oracle(graph: Graph[T], budget: int) -> list[int]:
    """Return 1 for each relevant fetch and 0 for others, until nothing relevant is left."""
    incoming = _reversed(graph.targets)
    seen: set[T] = set()
    ready: deque[T] = deque()
    waiting: set[T] = set()
    wanted = {node: None for node in graph.targets if node in graph.relevant}
    hits: list[int] = []

    def discover(targets: Iterable[T]) -> None:
        for target in targets:
            if target in seen:
                continue
            seen.add(target)
            wanted.pop(target, None)
            (ready.append if target in graph.relevant else waiting.add)(target)

    discover(graph.seeds)
    while len(hits) < budget:
        path = [ready.popleft()] if ready else _shortest_path(incoming, waiting, wanted)
        if not path:
            break
        for node in path:
            discover(graph.targets[node])
            waiting.discard(node)
            hits.append(int(node in graph.relevant))
    return hits


def _reversed(graph: Mapping[T, Sequence[T]]) -> Mapping[T, list[T]]:
    incoming: defaultdict[T, list[T]] = defaultdict(list)
    for node, targets in graph.items():
        for target in targets:
            incoming[target].append(node)
    return incoming


def _shortest_path(
    incoming: Mapping[T, Sequence[T]], waiting: AbstractSet[T], wanted: Iterable[T]
) -> list[T]:
    """Return the shortest path from a waiting page to a parent of a wanted page; [] if none.

    The search goes backwards, since there are soon few wanted and many waiting pages.
    """
    child: dict[T, T | None] = dict.fromkeys(wanted)
    queue = deque(child)
    while queue:
        node = queue.popleft()
        for parent in incoming[node]:
            if parent in waiting:
                path = [parent]
                while (after := child[node]) is not None:
                    path.append(node)
                    node = after
                return path
            if parent not in child:
                child[parent] = node
                queue.append(parent)
    return []


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
    names = [name for name in reachable(web, topic.seeds) if web.pages[name].status == OK]
    read = ((name, web.page(name)) for name in names)
    relevant = frozenset(name for name, page in read if page and scorer.score_page(page).relevant)
    return build_case(web, topic, relevant, budget)


def build_case(
    web: RecordedWeb, topic: Topic, relevant: frozenset[str], budget: int | None
) -> Case:
    """Build a case with a computed oracle; the default budget is half of the reachable pages."""
    reached = reachable(web, topic.seeds)
    budget = budget or max(1, len(reached) // 2)
    wanted = relevant.intersection(reached)
    seeds = [name for name in map(key, topic.seeds) if name in web.pages]
    graph = Graph({name: _targets(web, name) for name in reached}, wanted, seeds)
    curve = oracle_curve(graph, budget)
    points = tuple(enumerate(curve, 1))
    return Case(topic, relevant, budget, len(reached), len(wanted), points, sum(curve))


def reachable(web: RecordedWeb, seeds: Sequence[str]) -> list[str]:
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
