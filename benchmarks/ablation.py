"""Effect of each part of a link's score, and of adaptation, in replays of collections.

    python -m benchmarks.ablation [--pages FILE --topics FILE] [--topic NAME]… [--batch 8]…
                                  [--part NAME]… [--stated file|word|sentence|section] [--json FILE]

Each part is removed separately from shark-plus as shipped, without adaptation. Replays (see
`scrapy simulate`) use the production parser, scorer, strategy and frontier, without network; a
figure is the mean `area` over topics and numbers of requests in flight. Without --pages and
--topics, the collections in ../shared/data are replayed if there are any.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.focus import collection_options, collections_of
from benchmarks.judge_webs import stated_topic
from benchmarks.output import columns, show
from topiccrawl.addons.adaptation.learner import TopicLearner
from topiccrawl.addons.simulate.collection import RecordedWeb
from topiccrawl.addons.simulate.harvest import harvest, labelled_case, read_truth
from topiccrawl.addons.simulate.replay import Conditions, Replay
from topiccrawl.addons.simulate.session import CachingScorer
from topiccrawl.links.strategies import StrategyParameters, strategy
from topiccrawl.settings import TOPICCRAWL_SLOW_START
from topiccrawl.topics import SiteWords

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from topiccrawl.addons.simulate.harvest import Case


class Variant(NamedTuple):
    """A strategy, its parameters if they differ from the defaults, and an adaptation method."""

    strategy: str = "shark-plus"
    numbers: Mapping[str, float] | None = None
    method: str = "off"


PARTS = {
    "best-first": Variant("best-first"),
    "shark-plus": Variant(),
    "- scores of parents": Variant(numbers={"plus_parents_weight": 0.0}),
    "- priors of host and directory": Variant(numbers={"plus_prior_weight": 0.0}),
    "- words of links (promise)": Variant(numbers={"plus_promise_weight": 0.0}),
    "- anchor": Variant(numbers={"plus_anchor_weight": 0.0}),
    "- context": Variant(numbers={"plus_context_weight": 0.0}),
    "- places of links (region)": Variant(numbers={"plus_region_weight": 0.0}),
    "- sections": Variant(numbers={"plus_section_weight": 0.0}),
    "- shrinking to the crawl's mean": Variant(numbers={"plus_shrink": 0.0}),
    "- saturation (half = 1)": Variant(numbers={"plus_half": 1.0}),
    "words adaptation": Variant(method="words"),
    "genetic adaptation": Variant(method="genetic"),
}
"""Compared variants by their name in the table."""


def area(web: RecordedWeb, case: Case, variant: Variant, batch: int) -> float:
    """Return the area of one replay."""
    scorer = CachingScorer(case.topic, sites=SiteWords())
    parameters = StrategyParameters(**(variant.numbers or {}))  # type: ignore[arg-type]
    order = strategy(variant.strategy, scorer, parameters)
    adapts = variant.method != "off"
    adapter = TopicLearner(scorer, order, variant.method) if adapts else None
    given = Conditions(case.budget, batch=batch, slow_start=TOPICCRAWL_SLOW_START)
    replayed = Replay(web, case.topic, scorer, order, given, adapter).run()
    return harvest(variant.strategy, replayed.fetched, case).area


def areas(web: RecordedWeb, topics: Path, options: argparse.Namespace) -> Iterator[list[float]]:
    """Yield the areas of each topic, one for each part, and print them."""
    for name, labelled in read_truth(topics).items():
        if options.topic and name not in options.topic:
            continue
        topic = stated_topic(topics.name.partition(".")[0], labelled, options.stated)
        if topic is None:
            continue
        case = labelled_case(web, labelled)._replace(topic=topic)
        row = []
        for part in options.part or PARTS:
            runs = [area(web, case, PARTS[part], batch) for batch in options.batch or [8]]
            row.append(sum(runs) / len(runs))
        print(f"{name:<14}", *(f"{one:.3f}" for one in row), flush=True)
        yield row


def main() -> None:
    """Print a table of mean areas, by part and collection."""
    options = _parser().parse_args()
    names = options.part or list(PARTS)
    by_web: dict[str, list[float]] = {}
    for pages, topics in collections_of(options):
        rows = list(areas(RecordedWeb.read(pages), topics, options))
        if rows:
            title = topics.name.partition(".")[0]
            by_web[title] = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    if not by_web:
        raise SystemExit("no such topic, or no such statement of one")
    table = {name: [found[place] for found in by_web.values()] for place, name in enumerate(names)}
    flat = {
        f"{title}.{name}": by_web[title][place]
        for title, (place, name) in product(by_web, enumerate(names))
    }
    show(flat, options.json, columns(by_web, table, ".3f"))


def _parser() -> argparse.ArgumentParser:
    parser = collection_options(__doc__)
    parser.add_argument("--batch", action="append", type=int, metavar="N", help="may be repeated")
    parser.add_argument("--part", action="append", choices=PARTS, help="may be repeated")
    stated = "statement of the topics"
    parser.add_argument(
        "--stated", choices=("file", "word", "sentence", "section"), default="file", help=stated
    )
    return parser


if __name__ == "__main__":
    main()
