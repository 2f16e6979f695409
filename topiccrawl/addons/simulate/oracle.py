"""Oracle: a greedy order of fetches on a known link graph, the reference of harvest curves."""

from __future__ import annotations

from array import array
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


class Graph(NamedTuple):
    """A link graph with relevant nodes.

    Attributes:
        targets: For each node, the nodes to which it links, in page order.
        relevant: Relevant nodes.
        seeds: Start nodes.
    """

    targets: Sequence[Sequence[int]]
    relevant: frozenset[int]
    seeds: tuple[int, ...]


class Reach(NamedTuple):
    """Result of a breadth-first search.

    Attributes:
        depth: Number of links (including redirects) from the nearest seed; -1 if not reachable.
        parent: Node on which the node was first found; -1 for seeds and unreachable nodes.
    """

    depth: Sequence[int]
    parent: Sequence[int]


def find_reach(size: int, seeds: Iterable[int], targets: Callable[[int], Iterable[int]]) -> Reach:
    """Return depth and parent of all nodes of a graph, by breadth-first search.

    >>> list(find_reach(4, [0], {0: [1, 2], 1: [2], 2: [], 3: []}.__getitem__).depth)
    [0, 1, 1, -1]
    """
    depth, parent = array("i", [-1]) * size, array("i", [-1]) * size
    layer = list(dict.fromkeys(seeds))
    for seed in layer:
        depth[seed] = 0
    while layer:
        next_layer = []
        for number in layer:
            for target in targets(number):
                if depth[target] < 0:
                    depth[target] = depth[number] + 1
                    parent[target] = number
                    next_layer.append(target)
        layer = next_layer
    return Reach(depth, parent)


def cumulative_hits(hits: Iterable[bool]) -> list[int]:
    """Return the cumulative number of hits.

    >>> cumulative_hits([True, False, True])
    [1, 1, 2]
    """
    counts, found = [], 0
    for hit in hits:
        found += hit
        counts.append(found)
    return counts


def oracle_curve(graph: Graph, budget: int) -> list[int]:
    """Return the relevant pages found after each fetch by a greedy crawler that knows the graph.

    It fetches a linked relevant page if there is one, and otherwise follows the shortest path to
    one. The greedy order is not optimal; it is the reference for other crawlers.

    >>> chain = Graph([[1, 2], [], [3], []], frozenset({3}), (0,))
    >>> oracle_curve(chain, 4)
    [0, 0, 1, 1]
    """
    return cumulative_hits(_oracle(graph, budget) + [False] * budget)[:budget]


def _oracle(graph: Graph, budget: int) -> list[bool]:
    incoming = _reversed(graph.targets)
    seen: set[int] = set()
    ready: deque[int] = deque()
    waiting: set[int] = set()
    wanted = dict.fromkeys(sorted(graph.relevant))
    hits: list[bool] = []

    def discover(targets: Iterable[int]) -> None:
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
        for number in path:
            discover(graph.targets[number])
            waiting.discard(number)
            hits.append(number in graph.relevant)
    return hits


def _reversed(graph: Sequence[Sequence[int]]) -> list[list[int]]:
    incoming: list[list[int]] = [[] for _ in graph]
    for number, targets in enumerate(graph):
        for target in targets:
            incoming[target].append(number)
    return incoming


def _shortest_path(
    incoming: Sequence[Sequence[int]], waiting: set[int], wanted: Iterable[int]
) -> list[int]:
    """Return the shortest path from a waiting page to a parent of a wanted page; [] if none.

    The search goes backwards, since there are soon few wanted and many waiting pages.
    """
    child = dict.fromkeys(wanted, -1)
    queue = deque(child)
    while queue:
        number = queue.popleft()
        for parent in incoming[number]:
            if parent in waiting:
                return [parent, *_path_from(child, number)[:-1]]
            if parent not in child:
                child[parent] = number
                queue.append(parent)
    return []


def _path_from(child: dict[int, int], number: int) -> list[int]:
    trail = []
    while number >= 0:
        trail.append(number)
        number = child[number]
    return trail
