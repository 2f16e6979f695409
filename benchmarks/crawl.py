"""Cost of a page in a whole crawl, from request to stored links, compared with plain Scrapy.

    python -m benchmarks.crawl [--pages 1000] [--runs 1] [--long] [--queued N...] [--json FILE]

The web is generated and endless: pages of 30 kB with 50 links as in ``benchmarks.score``, on 20
hosts, served from this process. Each crawler has its own process and runs once for a third of the
pages and once for all, without delays, with 16 requests in flight. The difference of the two runs
is the cost of the pages without the start. Costs are processor time of the crawl and of all its
readers, including killed ones; ``wall`` is wall-clock time. With ``--runs``, all crawlers run that
many times in turn; figures are medians.

``scrapy``: a spider that follows all links of its LinkExtractor. ``fetch``: one that parses no
page. ``judged``: a topic crawl that takes no articles. ``adapted``: the same with a topic that
learns words. ``whole_all``: with articles taken out, compared and stored, every page on topic.
``whole_tenth``: the same with one page in ten on topic. The last ones run with 0, 1 and 3 readers;
ratios are those of 1 reader, or of the number in ``--readers``.

``rss_mb_100k`` and ``cost_10m_over_10k`` are measured with ``--long`` (an hour); otherwise there
are figures of 10,000 pages and of 1,000,000 queued URLs.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from contextlib import closing
from functools import cache
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.frontier import anonymous_bytes
from benchmarks.output import command_line, show
from benchmarks.processes import environment, processor_seconds
from benchmarks.score import TERMS, made_up
from lab.demo import DemoServer
from lab.demo.answers import Answer
from lab.demo.crawl import options
from lab.demo.judge import read_log
from topiccrawl.commands.crawl import NOTHING_FOUND
from topiccrawl.frontier.contract import Limits, Politeness, Seed
from topiccrawl.frontier.embedded import EmbeddedFrontier
from topiccrawl.frontier.view import View
from topiccrawl.links.strategies import stored_strategy, strategy
from topiccrawl.links.strategies.parameters import StrategyParameters
from topiccrawl.topics import Scorer
from topiccrawl.topics.topic import resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

HOSTS = 20
BODIES = 300
"""Number of distinct pages; a URL always has the same page."""
SETTINGS = {
    "ROBOTSTXT_OBEY": "1",
    "DOWNLOAD_DELAY": "0",
    "AUTOTHROTTLE_ENABLED": "0",
    "CONCURRENT_REQUESTS": "16",
    "CONCURRENT_REQUESTS_PER_DOMAIN": "16",
    "LOG_LEVEL": "ERROR",
}
HTML = (("Content-Type", "text/html; charset=utf-8"),)
SEEDS = [f"http://s{number}.test/" for number in range(HOSTS)]
JUDGED = {"TOPICCRAWL_EXTRACT": "0"}
OURS: dict[str, dict[str, str]] = {
    "judged": JUDGED,
    "adapted": {**JUDGED, "TOPICCRAWL_ADAPTATION": "words"},
    "whole_tenth": {},
    "whole_all": {},
}
PEER, FETCH, TENTH = "scrapy", "fetch", "whole_tenth"
READERS = (0, 1, 3)
PLAIN = "的是在有"
"""Words that replace those of the topic in pages off topic."""


class Trial(NamedTuple):
    """A crawler and its number of readers, or None."""

    name: str
    readers: int | None = None

    @property
    def label(self) -> str:
        """Return the name of the crawler in the figures."""
        return self.name if self.readers is None else f"{self.name}_{self.readers}r"


class Cost(NamedTuple):
    """Cost of one crawl: fetched pages, processor time and wall-clock time in seconds."""

    pages: int
    seconds: float
    wall: float


class Endless:
    """Web with a page at every URL except robots.txt.

    Args:
        tenth: Whether one page in ten is on topic; otherwise all pages are.
    """

    def __init__(self, *, tenth: bool = False) -> None:
        self.bodies = bodies(tenth=tenth)

    def answer(self, url: str, visit: int = 0, cookie: str = "") -> Answer:  # noqa: ARG002
        """The page of a URL."""
        if url.endswith("/robots.txt"):
            return Answer(404)
        return Answer(200, HTML, random.Random(url).choice(self.bodies))  # noqa: S311


@cache
def bodies(*, tenth: bool) -> list[bytes]:
    """Bodies of the pages, the same in each run; links keep their words."""
    found = [source.body.decode() for source in made_up(random.Random(1), BODIES)]  # noqa: S311
    if tenth:
        found = [one if place % 10 == 0 else _off_topic(one) for place, one in enumerate(found)]
    return [one.encode() for one in found]


def _off_topic(html: str) -> str:
    text, mark, links = html.partition("<h2>")
    for term in TERMS:
        text = text.replace(term, PLAIN[: len(term)])
    return text + mark + links


def crawl(
    trial: Trial,
    pages: int,
    folder: Path,
    watched: Callable[[int], object] | None = None,
) -> Cost:
    """Return the cost of a crawl; ``watched`` is called periodically with its process ID.

    Raises:
        SystemExit: If the crawl fails; with the end of its log.
    """
    name = f"{trial.label}-{pages}"
    log, errors = folder / f"{name}.tsv", folder / f"{name}.log"
    web = Endless(tenth=trial.name == TENTH)
    with DemoServer(web, log=log) as server, errors.open("wb") as out:
        given = environment(server.proxy)
        if trial.name not in OURS:
            del given["SCRAPY_SETTINGS_MODULE"]
        begun = time.perf_counter()
        line = _line(trial, pages, folder)
        process = subprocess.Popen(line, cwd=folder, env=given, stderr=out)
        over = threading.Event()
        thread = threading.Thread(target=_watch, args=(process.pid, watched, over))
        thread.start()
        used = processor_seconds(process)
        wall = time.perf_counter() - begun
        over.set()
        thread.join()
    if process.returncode not in {0, NOTHING_FOUND}:  # few pages may all be off topic
        raise SystemExit(f"{name} failed:\n{errors.read_text(errors='replace')[-2000:]}")
    got = sum(one.status == 200 for one in read_log(log))  # noqa: PLR2004
    return Cost(got, used, wall)


def _watch(pid: int, watched: Callable[[int], object] | None, over: threading.Event) -> None:
    while watched is not None and not over.wait(1.0):
        watched(pid)


def _line(trial: Trial, pages: int, folder: Path) -> list[str]:
    if trial.name not in OURS:
        program = Path(__file__).with_name("peers_spiders.py")
        arguments = json.dumps({"seeds": ",".join(SEEDS), "fetch": pages})
        settings = json.dumps({**SETTINGS, "CLOSESPIDER_PAGECOUNT": str(pages)})
        return [sys.executable, str(program), trial.name, arguments, settings]
    given = {
        **SETTINGS,
        **OURS[trial.name],
        "TOPICCRAWL_READERS": str(trial.readers),
        "TOPICCRAWL_PAGES": str(pages),
        "TOPICCRAWL_DATA_DIR": str(data(trial, pages, folder)),
    }
    line = ["crawl", "topic", "-a", f"topic={topic_file(folder)}"]
    return [sys.executable, "-m", "scrapy", *line, *options(given)]


def data(trial: Trial, pages: int, folder: Path) -> Path:
    """Folder of a crawl's state."""
    return folder / f"{trial.label}-{pages}"


def topic_file(folder: Path) -> Path:
    """The topic, written to a file."""
    path = folder / "topic.toml"
    terms = "".join(f'"{term}" = 1.0\n' for term in TERMS)
    path.write_text(
        f'name = "benchmark"\nseeds = {json.dumps(SEEDS)}\n[terms]\n{terms}', encoding="utf-8"
    )
    return path


def difference(trial: Trial, pages: int, folder: Path) -> Cost:
    """Return the cost of the last two thirds of a crawl's pages."""
    few, many = (crawl(trial, most, folder) for most in (pages // 3, pages))
    return Cost(many.pages - few.pages, many.seconds - few.seconds, many.wall - few.wall)


def page_costs(pages: int, runs: int) -> dict[str, float]:
    """Return median milliseconds per page, by processor and wall-clock time, of each crawler."""
    trials = [Trial(PEER), Trial(FETCH)]
    trials += [Trial(name, readers) for name in OURS for readers in READERS if name != "adapted"]
    trials.append(Trial("adapted", 0))
    found: defaultdict[str, list[float]] = defaultdict(list)
    for _ in range(runs):
        for trial in trials:
            with tempfile.TemporaryDirectory(prefix="topiccrawl-crawl-") as folder:
                cost = difference(trial, pages, Path(folder))
            ms, wall = 1000 * cost.seconds / cost.pages, 1000 * cost.wall / cost.pages
            found[f"{trial.label}_ms_page"].append(ms)
            found[f"{trial.label}_wall_ms_page"].append(wall)
            print(f"{trial.label}: {ms:.2f} ms a page, {wall:.2f} by the clock", flush=True)
    return {name: median(values) for name, values in found.items()}


def ratios(costs: dict[str, float], readers: int) -> dict[str, float]:
    """Return the ratios; above 1 is better than Scrapy, or than no reader."""
    peer = costs[f"{PEER}_ms_page"]
    found = {
        f"over_scrapy_{name}": peer / costs[f"{name}_{readers}r_ms_page"]
        for name in OURS
        if name != "adapted"
    }
    two = costs["whole_all_0r_wall_ms_page"] / costs["whole_all_1r_wall_ms_page"]
    return {**found, "two_cores": two}


def filled(folder: Path, urls: int) -> Path:
    """Queue URLs of low value in the frontier of the next crawl; return the frontier's folder."""
    folder.mkdir(parents=True, exist_ok=True)
    topic = resolve(str(topic_file(folder)))
    chosen = strategy("shark-plus", Scorer(topic), StrategyParameters())
    chosen.version = topic.version
    path = folder / "frontiers" / topic.slug
    frontier = EmbeddedFrontier(path, chosen, Politeness(), Limits(), owner=topic.name)
    frontier.push(_low(urls))
    frontier.close()
    return path


def _low(urls: int) -> Iterator[Seed]:
    return (Seed(f"{SEEDS[n % HOSTS]}low/{n}.html", 0.001) for n in range(urls))


def queue_costs(pages: int, sizes: Sequence[int]) -> dict[str, float]:
    """Return milliseconds per scored page with a number of queued URLs, without the start.

    Three times ``pages`` are fetched: opening a large frontier takes seconds, and not always as
    many.
    """
    found = {}
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="topiccrawl-crawl-") as name:
            few, many = (_over(Path(name), size, most) for most in (pages, 4 * pages))
        found[f"cost_{size}_ms_page"] = (
            1000 * (many.seconds - few.seconds) / (many.pages - few.pages)
        )
        print(f"{size} queued: {found[f'cost_{size}_ms_page']:.2f} ms a page", flush=True)
    return found


def _over(folder: Path, urls: int, pages: int) -> Cost:
    """Return the cost of a crawl that begins with a number of queued URLs.

    Raises:
        SystemExit: The crawl did not use the frontier that was filled.
    """
    trial = Trial("judged", 0)
    state = data(trial, pages, folder)
    frontier = filled(state, urls)
    cost = crawl(trial, pages, folder)
    with closing(View.read(frontier, stored_strategy("shark-plus"))) as view:
        crawled = view.counts()["crawled"]
    if not crawled:
        raise SystemExit(f"the crawl did not use {frontier}")
    shutil.rmtree(state)
    return cost


def memory(pages: int) -> float:
    """Return RssAnon of the crawl's process near the end of a number of pages, in megabytes."""
    seen = [0.0]

    def look(pid: int) -> None:
        seen.append(anonymous_bytes(pid) / 1024 / 1000 or seen[-1])

    with tempfile.TemporaryDirectory(prefix="topiccrawl-crawl-") as folder:
        crawl(Trial("judged", 1), pages, Path(folder), look)
    return seen[-1]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures; with ``--json`` also write them as a flat object."""
    parser = command_line(__doc__, pages=1000, runs=1)
    add = parser.add_argument
    add("--readers", type=int, default=1, choices=READERS, help="of the ratios")
    add("--long", action="store_true", help="100,000 pages, 10,000,000 URLs")
    add("--short", action="store_true", help="costs of pages alone")
    add("--queued", type=int, nargs="+", help="only the cost of a page with these queued URLs")
    chosen = parser.parse_args(arguments)
    if chosen.queued:
        found = queue_costs(chosen.pages, chosen.queued)
    else:
        found = page_costs(chosen.pages, chosen.runs)
        found |= ratios(found, chosen.readers)
    if not (chosen.short or chosen.queued):
        most = 10_000_000 if chosen.long else 1_000_000
        costs = queue_costs(chosen.pages, (10_000, most))
        label = "10m" if chosen.long else "1m"
        over = costs[f"cost_{most}_ms_page"] / costs["cost_10000_ms_page"]
        found |= {**costs, f"cost_{label}_over_10k": over, "rss_mb_10k": memory(10_000)}
    if chosen.long:
        found["rss_mb_100k"] = memory(100_000)
    show(found, chosen.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
