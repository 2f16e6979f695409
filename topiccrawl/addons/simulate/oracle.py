"""Good order of fetches on a known graph of links, the reference of harvest curves."""

from __future__ import annotations

from array import array
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


class Graph(NamedTuple):
    """Input of an oracle: links and relevant nodes.

    Attributes:
        onward: For each node, the nodes it links to, in page order.
        relevant: Relevant nodes.
        seeds: Nodes to start from.
    """

    onward: Sequence[Sequence[int]]
    relevant: frozenset[int]
    seeds: tuple[int, ...]


class Reach(NamedTuple):
    """Path to each entry.

    Attributes:
        depth: Links (redirects count) from the nearest seed; -1 where none leads there.
        parent: Entry it was first found on; -1 for seeds.
    """

    depth: Sequence[int]
    parent: Sequence[int]


def spread(size: int, seeds: Iterable[int], onward: Callable[[int], Iterable[int]]) -> Reach:
    """Return depth and parent of every node of a graph, breadth first.

    >>> list(spread(4, [0], {0: [1, 2], 1: [2], 2: [], 3: []}.__getitem__).depth)
    [0, 1, 1, -1]
    """
    depth, parent = array("i", [-1]) * size, array("i", [-1]) * size
    layer = list(dict.fromkeys(seeds))
    for seed in layer:
        depth[seed] = 0
    while layer:
        following = []
        for number in layer:
            for target in onward(number):
                if depth[target] < 0:
                    depth[target] = depth[number] + 1
                    parent[target] = number
                    following.append(target)
        layer = following
    return Reach(depth, parent)


def running(hits: Iterable[bool]) -> list[int]:
    """Return how many hits there were after each.

    >>> running([True, False, True])
    [1, 1, 2]
    """
    counts, found = [], 0
    for hit in hits:
        found += hit
        counts.append(found)
    return counts


def oracle_curve(graph: Graph, budget: int) -> list[int]:
    """Return relevant pages after each of ``budget`` fetches by a greedy all-knowing crawler.

    It takes a relevant page it has a link to; where it has none, it goes the shortest way to one.
    Greedy is not optimal; it is what the judged crawlers are compared with.

    >>> chain = Graph([[1, 2], [], [3], []], frozenset({3}), (0,))
    >>> oracle_curve(chain, 4)
    [0, 0, 1, 1]
    """
    return running(_oracle(graph, budget) + [False] * budget)[:budget]


def _oracle(graph: Graph, budget: int) -> list[bool]:
    incoming = _reversed(graph.onward)
    seen: set[int] = set()
    ready: deque[int] = deque()
    waiting: set[int] = set()
    wanted = dict.fromkeys(sorted(graph.relevant))
    hits: list[bool] = []

    def see(targets: Iterable[int]) -> None:
        for target in targets:
            if target in seen:
                continue
            seen.add(target)
            wanted.pop(target, None)
            (ready.append if target in graph.relevant else waiting.add)(target)

    see(graph.seeds)
    while len(hits) < budget:
        path = [ready.popleft()] if ready else _way(incoming, waiting, wanted)
        if not path:
            break
        for number in path:
            see(graph.onward[number])
            waiting.discard(number)
            hits.append(number in graph.relevant)
    return hits


def _reversed(onward: Sequence[Sequence[int]]) -> list[list[int]]:
    incoming: list[list[int]] = [[] for _ in onward]
    for number, targets in enumerate(onward):
        for target in targets:
            incoming[target].append(number)
    return incoming


def _way(incoming: Sequence[Sequence[int]], waiting: set[int], wanted: Iterable[int]) -> list[int]:
    """Shortest way from a waiting page to one that leads to a wanted page; [] if there is none.

    The search goes backwards: wanted pages soon are few, waiting pages soon are many.
    """
    child = dict.fromkeys(wanted, -1)
    queue = deque(child)
    while queue:
        number = queue.popleft()
        for parent in incoming[number]:
            if parent in waiting:
                return [parent, *_trail(child, number)[:-1]]
            if parent not in child:
                child[parent] = number
                queue.append(parent)
    return []


def _trail(child: dict[int, int], number: int) -> list[int]:
    trail = []
    while number >= 0:
        trail.append(number)
        number = child[number]
    return trail
