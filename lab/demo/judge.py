"""Quality of a crawl of the demo web, from the server's log and the generator's truth."""

from __future__ import annotations

from itertools import accumulate, repeat
from typing import TYPE_CHECKING, NamedTuple

from typing_extensions import override

from lab.demo.plan import Kind
from topiccrawl.addons.simulate.harvest import find_reach, oracle_curve

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from lab.demo.web import Web
    from topiccrawl.addons.simulate.harvest import Graph

_OK = 200
_ORACLE_POINTS = 250
"""Number of exported points of the oracle's curve."""


class Fetch(NamedTuple):
    """One line of a server's log.

    Attributes:
        at: Time of the request, seconds since the server's start.
        port: Port of the client.
        status: Status of the response; 0 if the connection was cut or left open.
        size: Size of the body in bytes.
        url: Requested URL.
    """

    at: float
    port: int
    status: int
    size: int
    url: str


class Judgement(NamedTuple):
    """Measures of a crawl.

    Attributes:
        requests: Number of lines of the log.
        pages: Number of distinct known pages with status 200, without redirects.
        relevant: Number of on-topic pages among them.
        relevant_expected: Number of on-topic pages that can be fetched.
        articles: Number of on-topic articles among them.
        articles_expected: Number of on-topic articles that can be fetched.
        harvest_rate: ``relevant / pages``.
        trapped: Number of requests to endless traps.
        forbidden: Number of requests for pages that robots.txt forbids.
        area: Area under the harvest curve over these pages / the oracle's, in [0, 1].
    """

    requests: int
    pages: int
    relevant: int
    relevant_expected: int
    articles: int
    articles_expected: int
    harvest_rate: float
    trapped: int
    forbidden: int
    area: float

    @override
    def __str__(self) -> str:
        return (
            f"{self.requests} requests, {self.pages} pages, {self.relevant} on topic "
            f"(harvest rate {self.harvest_rate:.3f}, {self.area:.3f} of an oracle's area)\n"
            f"on-topic pages {self.relevant} of {self.relevant_expected}, "
            f"on-topic articles {self.articles} of {self.articles_expected}\n"
            f"{self.trapped} requests into endless traps, "
            f"{self.forbidden} for pages that robots.txt closes"
        )


def read_log(path: Path) -> list[Fetch]:
    """Return the requests in a server's log, in order."""
    fetches = []
    for line in path.read_text(encoding="utf-8").splitlines():
        at, port, status, size, url = line.split("\t")
        fetches.append(Fetch(float(at), int(port), int(status), int(size), url))
    return fetches


def judge(log: Path, web: Web) -> Judgement:
    """Judge a crawl by its server's log."""
    fetches = read_log(log)
    order = order_of(fetches, web)
    hits = [number in web.relevant for number in order]
    found = sum(hits)
    articles = {n for n in web.relevant if web.plan.entries[n].kind == Kind.ARTICLE}
    numbers = [(fetch.url, web.number(fetch.url)) for fetch in fetches]
    oracle = oracle_curve(web.graph(), len(order))
    return Judgement(
        requests=len(fetches),
        pages=len(order),
        relevant=found,
        relevant_expected=len(web.relevant & web.obtainable),
        articles=len(articles & set(order)),
        articles_expected=len(articles & web.obtainable),
        harvest_rate=round(found / len(order), 3) if order else 0.0,
        trapped=sum(n is None and web.endless(url) for url, n in numbers),
        forbidden=sum(n is not None and not web.plan.allows(n) for _, n in numbers),
        area=round(sum(accumulate(hits)) / max(1, sum(oracle)), 3),
    )


def order_of(fetches: Iterable[Fetch], web: Web) -> list[int]:
    """Return entries in the order of their first successful response."""
    numbers = (web.number(f.url) for f in fetches if f.status == _OK)
    return list(dict.fromkeys(n for n in numbers if n is not None))


def breadth_first(graph: Graph[int], budget: int) -> list[int]:
    """Return relevant pages after each of ``budget`` fetches in order of discovery."""
    depth = find_reach(graph.seeds, graph.targets.__getitem__).depth
    order = sorted(depth, key=lambda node: (depth[node], node))
    hits = [int(node in graph.relevant) for node in order]
    return list(accumulate([*hits, *repeat(0, budget)]))[:budget]


def topic_record(
    graph: Graph[int], name: str, label: str, terms: Sequence[str], urls: Sequence[str]
) -> dict[str, object]:
    """Return a topic as crawl benchmarks read it: seeds, budget, the oracle's curve, references.

    The budget is half of the reachable pages. ``breadth_first`` orders a layer by page number.
    """
    reachable = find_reach(graph.seeds, graph.targets.__getitem__).depth.keys()
    budget = len(reachable) // 2
    oracle = oracle_curve(graph, budget)
    step = max(1, budget // _ORACLE_POINTS)
    area = sum(oracle)
    return {
        "name": name,
        "terms": list(terms),
        "relevant": [label],
        "seeds": list(urls),
        "reachable": len(reachable),
        "reachable_relevant": len(reachable & graph.relevant),
        "budget": budget,
        "oracle": oracle[::step],
        "oracle_step": step,
        "oracle_area": area,
        "reference": {"oracle": 1.0, "bfs": round(sum(breadth_first(graph, budget)) / area, 3)},
    }
