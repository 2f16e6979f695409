"""Oracle: a greedy order of fetches on a known link graph, the reference of harvest curves."""

from __future__ import annotations

from collections import defaultdict, deque
from itertools import accumulate, repeat
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

T = TypeVar("T")


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
