"""Harvest of real crawls of recorded collections, measured from the server's log.

    python -m benchmarks.focus --pages FILE --topics FILE [--topic NAME]… [--strategy NAME]…
                               [--concurrency 8] [-s SETTING=VALUE]… [--json FILE] [--logs FOLDER]
                               [--marks N] [--seed 1]

The collection is served as if it were the web (a proxy for all hosts); `scrapy crawl topic` runs
through the real scheduler without delay. `area` is the area under the harvest curve up to the
topic's budget, as the server's log saw it, divided by that of an oracle that knows all labels and
links. Collections and topics are those of `scrapy simulate` (see `topiccrawl/addons/simulate`),
which gives nearly the same areas many times faster. Without --pages and --topics, the collections
in ../shared/data are crawled if there are any.

With --marks, each strategy crawls a second time with readers' marks of N pages on topic and of N
others, drawn at random. Marked pages count in neither of the two: the oracle is one without them.
"""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.output import DATA, command_line, show
from benchmarks.processes import environment
from lab.demo import DemoServer
from lab.demo.answers import Answer
from lab.demo.crawl import options
from lab.demo.judge import read_log
from topiccrawl.addons.simulate.collection import OK, RecordedWeb, key
from topiccrawl.addons.simulate.harvest import (
    BASELINE,
    build_case,
    harvest,
    labelled_case,
    read_truth,
)
from topiccrawl.addons.simulate.report import Areas, figures, summary, table
from topiccrawl.links.strategies import DEFAULT
from topiccrawl.storage.sites import MarkStore
from topiccrawl.topics.marks import mark_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping, Sequence

    from topiccrawl.addons.simulate.harvest import Case, Harvest
    from topiccrawl.model import Mark
    from topiccrawl.topics.topic import Topic

SETTINGS = {
    "DOWNLOAD_DELAY": "0",
    "AUTOTHROTTLE_ENABLED": "0",
    "TOPICCRAWL_RETRY_DELAY": "0.2",
    "TOPICCRAWL_EXTRACT": "0",
    "LOG_LEVEL": "WARNING",
    "CONCURRENT_REQUESTS": "8",
    "CONCURRENT_REQUESTS_PER_DOMAIN": "8",
}


class Served:
    """A recorded web as a server answers.

    Args:
        web: The recorded web.
    """

    def __init__(self, web: RecordedWeb) -> None:
        self.web = web

    def answer(self, url: str, visit: int = 0, cookie: str = "") -> Answer:  # noqa: ARG002
        """The page; 404 for an unknown one, 502 for an unknown host."""
        page = self.web.get(url)
        if page is not None:
            return Answer(page.status, page.headers, page.body)
        return Answer(404 if key(url).partition("/")[0] in self.web.hosts else 502)


def in_flight(number: int) -> list[str]:
    """Return settings of a crawl with a number of requests in flight."""
    return [f"CONCURRENT_REQUESTS={number}", f"CONCURRENT_REQUESTS_PER_DOMAIN={number}"]


def fetched_pages(log: Path, web: RecordedWeb) -> list[str]:
    """Return the keys of the recorded pages in a server's log, by their first good answer."""
    pages = (one.url for one in read_log(log) if one.status == OK and web.get(one.url))
    return list(dict.fromkeys(map(key, pages)))


def judge(log: Path, web: RecordedWeb, case: Case, name: str = "") -> Harvest:
    """Judge a crawl by the server's log."""
    return harvest(name, fetched_pages(log, web), case)


def crawl(
    web: RecordedWeb, case: Case, strategy: str, extra: Sequence[str] = (),
    keep: Path | None = None, marks: Sequence[Mark] = (),
) -> Harvest:  # fmt: skip
    """Crawl for a topic and judge.

    Args:
        web: What is served.
        case: The topic, and what it is judged by.
        strategy: Name of the strategy.
        extra: More settings, ``NAME=VALUE``.
        keep: Folder in which the server's log stays.
        marks: Readers' marks that the crawl begins with.

    Raises:
        SystemExit: If the crawl fails; with the end of its log.
    """
    with tempfile.TemporaryDirectory(prefix="topiccrawl-focus-") as name:
        folder = Path(name)
        topic_file = folder / "topic.toml"
        topic_file.write_text(_toml(case.topic), encoding="utf-8")
        settings = {
            **SETTINGS,
            "TOPICCRAWL_DATA_DIR": str(folder / "data"),
            "TOPICCRAWL_STRATEGY": strategy,
            "TOPICCRAWL_PAGES": str(case.budget),
        }
        asyncio.run(_store(settings, case.topic, marks))
        line = [sys.executable, "-m", "scrapy", "crawl", "topic", "-a", f"topic={topic_file}"]
        line += [*options(settings), *(part for pair in extra for part in ("-s", pair))]
        log = folder / "access.tsv"
        with DemoServer(Served(web), log=log) as server:
            finished(line, environment(server.proxy))
        if keep:
            shutil.copy(log, keep / f"{case.topic.slug}.{strategy}.tsv")
        return judge(log, web, case, strategy)


def marked_case(
    web: RecordedWeb, case: Case, number: int, dice: random.Random
) -> tuple[Case, list[Mark]]:
    """Draw pages that readers mark, at most half of those on topic, and leave them out of a case.

    Args:
        web: What the pages are drawn from.
        case: The topic, and what it is judged by.
        number: Pages on topic, and as many others.
        dice: Draws.
    """
    pages = {name: page for name in sorted(web.pages) if (page := web.page(name))}
    wanted = [name for name in pages if name in case.relevant]
    on = dice.sample(wanted, min(number, len(wanted) // 2))
    off = dice.sample([name for name in pages if name not in case.relevant], number)
    left = build_case(web, case.topic, case.relevant.difference(on), case.budget)
    marks = [mark_of(pages[name], wanted=name in case.relevant) for name in (*on, *off)]
    return left, marks


async def _store(settings: Mapping[str, str], topic: Topic, marks: Sequence[Mark]) -> None:
    if marks:
        async with MarkStore.opened(settings, topic.name) as store:
            await store.mark(marks)


def finished(line: Sequence[str], environment: Mapping[str, str], folder: str = ".") -> None:
    """Run a command to its end.

    Raises:
        SystemExit: It fails; with the end of its log.
    """
    done = subprocess.run(
        line, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(line)}\n{done.stderr[-2000:]}")


def _toml(topic: Topic) -> str:
    weights = (f"{json.dumps(t, ensure_ascii=False)} = {w}" for t, w in topic.terms.items())
    name = json.dumps(topic.name, ensure_ascii=False)
    seeds = json.dumps(topic.seeds)
    return "\n".join((f"name = {name}", f"seeds = {seeds}", "[terms]", *weights, ""))


def cases(given: argparse.Namespace) -> Iterator[tuple[RecordedWeb, Case]]:
    """Yield what is to be crawled."""
    for pages, topics in collections_of(given):
        web = RecordedWeb.read(pages)
        for name, labelled in read_truth(topics).items():
            if not given.topic or name in given.topic:
                yield web, labelled_case(web, labelled)


def collections_of(given: argparse.Namespace) -> list[tuple[Path, Path]]:
    """Collections and their topics: those named, else all that are in ../shared/data."""
    if given.pages and given.topics:
        return [(given.pages, given.topics)]
    found = [
        (topics.with_name(topics.name.replace(".topics.json", ".web.jsonl.gz")), topics)
        for topics in sorted(DATA.glob("*.topics.json"))
    ]
    if given.pages or given.topics or not found:
        raise SystemExit("give --pages *.web.jsonl.gz and --topics *.topics.json")
    return found


def collection_options(text: str | None, **numbers: float) -> argparse.ArgumentParser:
    """Return a parser with ``--json``, collections, topics and options that are numbers."""
    parser = command_line(text, **numbers)
    parser.add_argument("--pages", type=Path, metavar="FILE", help=f"default: all of {DATA.name}")
    parser.add_argument("--topics", type=Path, metavar="FILE")
    parser.add_argument("--topic", action="append", metavar="NAME", help="may be repeated")
    return parser


def summarize(areas: Areas, file: Path | None) -> None:
    """Print the areas over all topics; exit if there are none."""
    if not any(areas.values()):
        raise SystemExit("no such topic")
    show(figures(areas, DEFAULT), file, "\n".join(summary(areas)))


def main() -> None:
    """Print a table of areas, by topic and strategy, beside the stored references."""
    given = _parser().parse_args()
    strategies = given.strategy or [BASELINE, DEFAULT]
    areas: Areas = {strategy: {} for strategy in strategies}
    extra = [*in_flight(given.concurrency), *given.extra]
    for web, case in cases(given):
        harvests = []
        judged = case
        marks: list[Mark] = []
        if given.marks:
            dice = random.Random(given.seed)  # noqa: S311
            judged, marks = marked_case(web, case, given.marks, dice)
        for strategy, shown in product(strategies, [[], marks] if marks else [[]]):
            name = f"{strategy}, {len(shown)} marks" if shown else strategy
            began = time.perf_counter()
            one = crawl(web, judged, strategy, extra, given.logs, shown)._replace(name=name)
            seconds = time.perf_counter() - began
            print(f"{case.topic.name}, {name}: {one.pages} pages in {seconds:.1f} s")
            harvests.append(one)
            areas.setdefault(name, {})[case.topic.name] = one.area
        print(*table(judged, harvests), "", sep="\n", flush=True)
    summarize(areas, given.json)


def _parser() -> argparse.ArgumentParser:
    parser = collection_options(__doc__, concurrency=8, marks=0, seed=1)
    parser.add_argument("--strategy", action="append", metavar="NAME", help="or a dotted path")
    parser.add_argument("-s", dest="extra", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--logs", type=Path, metavar="FOLDER", help="keep the servers' logs there")
    return parser


if __name__ == "__main__":
    main()
