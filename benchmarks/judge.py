"""Quality of page scores: separation of on-topic pages, measured with labels by topic.

    python -m benchmarks.judge [--web NAME]… [--topic NAME]… [--condition NAME]… [--data FOLDER]
                               [--draws 5] [--seed 1] [--background 200]
                               [--json FILE]

For each topic of each collection: average precision, best F1, F1 at the limit of a crawl (in
brackets) and calibration error of the scores of its pages, the topic stated as a file (``words``),
as one word, as a sentence, as that sentence in traditional script, and as a sentence that lists the
file's terms (``restated``); by five examples alone; and by its file with marks, of 5, 10 and 30
pages on topic and as many off, drawn at random (``marks10``) or as active learning asks for them
(``active10``, as many in all). Draws take at most half of a topic's positives; the background is
drawn from all unmarked pages, its labels unused; pages that were learnt from leave the evaluation,
and ``marks10_before`` is the topic's file over the same pages: active learning asks for the best
pages, so that fewer of them remain.

``--json`` names: ``words_ap``, ``marks10_ap``, ``marks10_decided`` and so on, the means of the
collections' means; ``sentence_gap`` and ``restated_gap``, what a sentence loses against its file
in the same mean; and each figure by collection and topic. All by the text of the pages alone:
``benchmarks.linked`` judges them by the links as well, as crawls do.
Collections are ``NAME.web.jsonl.gz`` with ``NAME.topics.json`` in ``--data`` (../shared/data).
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from benchmarks import judge_marks
from benchmarks.judge_marks import Chance, Judged, marked, relevances
from benchmarks.judge_measures import Measured, mean, measure
from benchmarks.judge_webs import WEBS, Web, read_web, statements
from benchmarks.output import DATA, command_line, show
from topiccrawl.topics.pagekind import own_share
from topiccrawl.topics.topic import from_words

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from topiccrawl.addons.simulate.harvest import LabelledTopic

Results = dict[str, dict[str, dict[str, Measured]]]
"""Measures by collection, topic and condition."""

STATED = ("words", "word", "sentence", "traditional", "restated")
CONDITIONS = (*STATED, *judge_marks.CONDITIONS)
GAPS = {"sentence_gap": "sentence", "restated_gap": "restated"}
"""Loss of a statement against its file."""


def judged_topic(
    web: Web, judged: Judged | None, topic: LabelledTopic, options: argparse.Namespace
) -> Iterator[tuple[str, Measured]]:
    """Yield the measures of each condition of a topic."""
    wanted = options.condition or CONDITIONS
    labels = web.relevant(topic)
    by_words = relevances(web, topic.topic) if judged or "words" in wanted else []
    articles = judged.articles if judged else tuple(map(own_share, web.pages))
    if "words" in wanted:
        yield "words", measure(_harvest(by_words, articles), labels)
    chance = Chance(options.draws, options.seed, options.background)
    for kind, text in statements(web.name, topic):
        if kind not in wanted:
            continue
        said = relevances(web, from_words(text))
        yield kind, measure(_harvest(said, articles), labels)
    if judged:
        yield from marked(judged, labels, by_words, chance, wanted)


def _harvest(relevance: Sequence[float], articles: Sequence[float]) -> list[float]:
    return [score * article for score, article in zip(relevance, articles, strict=True)]


def judge(options: argparse.Namespace) -> Results:
    """Judge the chosen topics, and print a line for each."""
    learns = set(options.condition or CONDITIONS) & set(judge_marks.CONDITIONS)
    results: Results = {}
    for name in options.web or WEBS:
        web = read_web(name, options.data)
        judged = Judged.of(web) if learns else None
        for topic in web.topics:
            if options.topic and topic.name not in options.topic:
                continue
            found = dict(judged_topic(web, judged, topic, options))
            results.setdefault(name, {})[topic.name] = found
            print(_line(f"{name} {topic.name}", found), flush=True)
        if name in results:
            print(_line(f"{name}, mean", means(results[name])), flush=True)
    return results


def means(topics: dict[str, dict[str, Measured]]) -> dict[str, Measured]:
    """The mean over a collection's topics, of each condition."""
    kinds = dict.fromkeys(kind for found in topics.values() for kind in found)
    return {kind: mean(found[kind] for found in topics.values() if kind in found) for kind in kinds}


def figures(results: Results) -> dict[str, object]:
    """All figures; the named ones are means of the collections' means."""
    by_web = {name: means(topics) for name, topics in results.items()}
    whole: dict[str, object] = {
        f"{kind}_{name}": round(
            fmean(getattr(found[kind], name) for found in by_web.values() if kind in found), 4
        )
        for kind in dict.fromkeys(kind for found in by_web.values() for kind in found)
        for name in ("ap", "decided")
    }
    for gap, kind in GAPS.items():
        pairs = [
            [(found["words"].ap, found[kind].ap) for found in topics.values() if kind in found]
            for topics in results.values()
            if all("words" in found for found in topics.values())
        ]
        if gaps := [fmean(file - said for file, said in web) for web in pairs if web]:
            whole[gap] = round(fmean(gaps), 4)
    for name, topics in results.items():
        for topic, found in topics.items():
            for kind, one in found.items():
                rounded = {key: round(value, 4) for key, value in one._asdict().items()}
                whole[f"{name}.{topic}.{kind}"] = rounded
    return whole


def _line(name: str, found: dict[str, Measured]) -> str:
    cells = (
        f"{kind} {m.ap:.3f} {m.f1:.2f} ({m.decided:.2f}) {m.ece:.2f}" for kind, m in found.items()
    )
    return f"{name:24} " + " | ".join(cells)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print average precision, best F1 and calibration error, by topic and condition."""
    options = _parser().parse_args(arguments)
    results = judge(options)
    if not results:
        raise SystemExit("no such topic")
    found = figures(results)
    lines = (f"{name:24} {value}" for name, value in found.items() if "." not in name)
    show(found, options.json, "\n".join(lines))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = command_line(__doc__, draws=5, seed=1, background=200)
    add = parser.add_argument
    add("--web", action="append", metavar="NAME", help="collection; may be repeated")
    add("--topic", action="append", metavar="NAME", help="may be repeated")
    add("--condition", action="append", choices=CONDITIONS, help="may be repeated; default all")
    add("--data", type=Path, default=DATA, metavar="FOLDER")
    return parser


if __name__ == "__main__":
    sys.exit(main())
