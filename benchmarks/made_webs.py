"""Comparison of shark-plus with best-first on generated webs of different kinds.

    python -m benchmarks.made_webs [KIND]… [--seeds N] [--adaptation words|genetic]
                                   [--processes 1] [--json FILE]

Each kind of web (see `made_webs_kinds`) removes a signal that a crawl may rely on: words in
links, directories, hosts, terms. A web has two topics. Replays (see `scrapy simulate`) use the
production parser, scorer, strategy and frontier, without network, 8 requests in flight. A figure is
the mean `area` over a kind's topics: the area under the harvest curve up to half of the reachable
pages, over that of an oracle that knows all labels and links. `closed` is the share of best-first's
distance to the oracle that shark-plus closes, `worst` its difference from best-first in the topic
where it does worst.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import chain, islice, product
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.ablation import Variant, area
from benchmarks.made_webs_kinds import KINDS
from benchmarks.made_webs_pages import made_web
from benchmarks.output import command_line, show
from topiccrawl.addons.simulate.harvest import labelled_case

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Sequence

BATCH = 8
"""Requests in flight."""
BEST_FIRST = Variant("best-first")


class Areas(NamedTuple):
    """Areas of one topic's replays; 1 is the area of the oracle."""

    best_first: float
    shark_plus: float


class Judged(NamedTuple):
    """Results of the replays of one kind.

    Attributes:
        name: The kind's.
        topics: Areas of each topic.
    """

    name: str
    topics: Sequence[Areas]

    @property
    def best_first(self) -> float:
        """Mean area of best-first."""
        return fmean(one.best_first for one in self.topics)

    @property
    def shark_plus(self) -> float:
        """Mean area of shark-plus."""
        return fmean(one.shark_plus for one in self.topics)

    @property
    def closed(self) -> float:
        """Share of best-first's distance to the oracle that shark-plus closes; 0 without one."""
        distance = 1 - self.best_first
        return (self.shark_plus - self.best_first) / distance if distance else 0.0

    @property
    def worst(self) -> float:
        """Least difference of a topic, shark-plus less best-first."""
        return min(one.shark_plus - one.best_first for one in self.topics)


def replays(job: tuple[str, int], variant: Variant) -> list[Areas]:
    """Areas of the topics of one web, given as a kind's name and a seed."""
    name, seed = job
    made = made_web(KINDS[name], seed)
    cases = [labelled_case(made.web, topic) for topic in made.topics]
    return [
        Areas(*(area(made.web, case, one, BATCH) for one in (BEST_FIRST, variant)))
        for case in cases
    ]


def judge(names: Sequence[str], seeds: int, variant: Variant, processes: int) -> Iterator[Judged]:
    """Yield the results of each kind as soon as its last replay is done."""
    jobs = product(names, range(1, seeds + 1))
    with ProcessPoolExecutor(processes) as executor:
        done = executor.map(partial(replays, variant=variant), jobs)
        for name in names:
            yield Judged(name, list(chain.from_iterable(islice(done, seeds))))


def flat(judged: Iterable[Judged]) -> dict[str, float]:
    """The figures by name, for `--json`."""
    figures: dict[str, float] = {}
    for one in judged:
        figures[f"area.{one.name}.best-first"] = one.best_first
        figures[f"area.{one.name}.shark-plus"] = one.shark_plus
        figures[f"closed.{one.name}"] = one.closed
    figures["worst_minus_best_first"] = min(one.worst for one in judged)
    return {name: round(figure, 4) for name, figure in figures.items()}


def main() -> None:
    """Print a table by kind."""
    parser = _parser()
    options = parser.parse_args()
    if unknown := set(options.kind) - set(KINDS):
        parser.error(f"no such kind: {', '.join(sorted(unknown))}; there are {', '.join(KINDS)}")
    if options.seeds < 1:
        parser.error("--seeds: at least 1")
    print(f"{'':<20}{'best-first':>12}{'shark-plus':>12}{'closed':>9}{'worst':>9}")
    judged = []
    variant = Variant(method=options.adaptation)
    for one in judge(options.kind or list(KINDS), options.seeds, variant, options.processes):
        judged.append(one)
        print(
            f"{one.name:<20}{one.best_first:>12.3f}{one.shark_plus:>12.3f}"
            f"{one.closed:>9.0%}{one.worst:>+9.3f}",
            flush=True,
        )
    topics = [topic for one in judged for topic in one.topics]
    worse = sum(one.shark_plus < one.best_first for one in topics)
    text = f"{len(topics)} topics; shark-plus does worse than best-first in {worse}"
    show(flat(judged), options.json, text)


def _parser() -> argparse.ArgumentParser:
    parser = command_line(__doc__, seeds=1)
    parser.add_argument("kind", nargs="*", metavar="KIND", help=f"of {', '.join(KINDS)}; all")
    methods = ("off", "words", "genetic")
    parser.add_argument("--adaptation", choices=methods, default="off", help="of shark-plus; off")
    parser.add_argument("--processes", type=int, choices=(1, 2), default=2, help="2")
    return parser


if __name__ == "__main__":
    main()
