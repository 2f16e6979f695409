"""Judgement of pages by their words, and by the links that led to them, in replayed crawls.

    python -m benchmarks.linked [WEB.web.jsonl.gz]… [--topic NAME]… [--stated file|word|sentence]
                                [--batch 16] [--json FILE]

Each topic of each collection is crawled by ``shark-plus`` in a replay until the queue is empty.
Every page is judged when it is read, as in a crawl: by the words of the topic, and by words and
links together (``topics.linked``). Seeds have no links and are left out.

For both: average precision of the harvest (relevance times article share) over all pages; and
precision, recall and F1 of the pages to read (article share at least one half) that are relevant
at the topic's lower limit, which is what a crawl stores. ``--json`` names: ``words_ap``,
``linked_ap``, ``words_f1``, ``linked_f1`` and so on, the means of the collections' means; and each
figure by collection and topic. Collections have their topics in ``NAME.topics.json`` beside them;
the default is those in ../shared/data.
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from sklearn.metrics import average_precision_score
from typing_extensions import override

from benchmarks.judge_webs import WEBS, stated_topic
from benchmarks.output import DATA, STDOUT, command_line, show
from topiccrawl.addons.simulate.collection import RecordedWeb, key
from topiccrawl.addons.simulate.harvest import labelled_case, read_truth
from topiccrawl.addons.simulate.replay import Conditions, Replay
from topiccrawl.links.strategies.shark_plus import SharkPlus
from topiccrawl.settings import TOPICCRAWL_SLOW_START
from topiccrawl.topics import Scorer, SiteWords
from topiccrawl.topics.pagekind import READABLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from topiccrawl.addons.simulate.harvest import LabelledTopic
    from topiccrawl.frontier.contract import Outcome
    from topiccrawl.model import Lease, Offer, Verdict
    from topiccrawl.topics import Topic

KINDS = ("words", "linked")


class Judgement(NamedTuple):
    """A page of a replay: its label and its verdict."""

    label: bool
    verdict: Verdict


class JudgingReplay(Replay):
    """Replay that also judges each page by the links that led to it."""

    def judgements(self, relevant: frozenset[str]) -> list[Judgement]:
        """Crawl all pages; return those that links led to, judged by words and links."""
        self._relevant, self._judged = relevant, list[Judgement]()
        self.run()
        return self._judged

    @override
    def _read(self, lease: Lease) -> tuple[Outcome, Sequence[Offer]]:
        page = self.web.page(name := key(lease.url))
        expected = self.strategy.expected(lease.evidence)
        if page is not None and expected is not None:
            verdict = self._scorer.score_page(page._replace(expected=expected))
            self._judged.append(Judgement(name in self._relevant, verdict))
        return super()._read(lease)


def judge(web: RecordedWeb, labelled: LabelledTopic, topic: Topic, batch: int) -> list[Judgement]:
    """Replay a topic; return its judged pages."""
    case = labelled_case(web, labelled, len(web.pages))
    scorer = Scorer(topic, sites=SiteWords())
    conditions = Conditions(case.budget, batch, TOPICCRAWL_SLOW_START)
    replay = JudgingReplay(web, topic, scorer, SharkPlus(scorer), conditions)
    return replay.judgements(case.relevant)


def measures(judged: Sequence[Judgement]) -> dict[str, float]:
    """Return average precision, precision, recall and F1 by words, and by words and links."""
    found = {}
    for kind in KINDS:
        verdicts = [one.verdict if kind == "linked" else one.verdict.for_links for one in judged]
        harvest = [verdict.harvest for verdict in verdicts]
        found[f"{kind}_ap"] = float(average_precision_score([j.label for j in judged], harvest))
        read = [
            (j.label, verdict.relevant)
            for j, verdict in zip(judged, verdicts, strict=True)
            if verdict.article >= READABLE
        ]
        hits = sum(label and chosen for label, chosen in read)
        chosen = sum(chosen for _, chosen in read)
        wanted = sum(label for label, _ in read)
        found[f"{kind}_precision"] = hits / max(1, chosen)
        found[f"{kind}_recall"] = hits / max(1, wanted)
        found[f"{kind}_f1"] = 2 * hits / max(1, chosen + wanted)
    return found


def results(
    webs: Sequence[Path], topics: Sequence[str], stated: str, batch: int
) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield the measures of each topic, as ``WEB.TOPIC``."""
    for path in webs:
        name = path.name.partition(".web.")[0]
        web = RecordedWeb.read(path)
        for labelled in read_truth(path.with_name(f"{name}.topics.json")).values():
            topic = stated_topic(name, labelled, stated)
            if (topics and labelled.name not in topics) or topic is None:
                continue
            judged = judge(web, labelled, topic, batch)
            if any(one.label for one in judged):
                yield f"{name}.{labelled.name}", measures(judged)


def means(found: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return the mean of each measure."""
    return {name: fmean(one[name] for one in found) for name in found[0]}


def _line(name: str, found: dict[str, float]) -> str:
    cells = " | ".join(
        f"{kind} {found[f'{kind}_ap']:.3f} {found[f'{kind}_precision']:.2f} "
        f"{found[f'{kind}_recall']:.2f} {found[f'{kind}_f1']:.3f}"
        for kind in KINDS
    )
    return f"{name[:30]:30} {cells}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print average precision, precision, recall and F1 of each topic, and the means."""
    parser = command_line(__doc__, batch=16)
    default = [DATA / f"{name}.web.jsonl.gz" for name in WEBS]
    parser.add_argument("web", nargs="*", type=Path, default=default, help="collections")
    parser.add_argument("--topic", action="append", default=[], help="may be repeated")
    parser.add_argument("--stated", choices=("file", "word", "sentence"), default="file")
    options = parser.parse_args(arguments)
    by_web: dict[str, list[dict[str, float]]] = {}
    whole: dict[str, object] = {}
    shown = options.json != STDOUT
    if shown:
        print("Average precision, precision, recall and F1 by words, and by words and links:")
    for name, found in results(options.web, options.topic, options.stated, options.batch):
        if shown:
            print(_line(name, found), flush=True)
        by_web.setdefault(name.partition(".")[0], []).append(found)
        whole[name] = {key: round(value, 4) for key, value in found.items()}
    if not by_web:
        raise SystemExit("no such topic")
    collections = {name: means(found) for name, found in by_web.items()}
    mean = means(list(collections.values()))
    lines = [_line(f"{name}, mean", found) for name, found in collections.items()]
    rounded = {key: round(value, 4) for key, value in mean.items()}
    show(rounded | whole, options.json, "\n".join([*lines, _line("mean", mean)]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
