"""Other crawlers beside ours: harvest of real crawls of recorded collections, judged from outside.

    python -m benchmarks.peers [--pages FILE --topics FILE] [--topic NAME]… [--peer NAME]…
                               [--concurrency 16] [--others PYTHON] [--json FILE]

The same server, topics and area as in `benchmarks.focus`. Peers are `scrapy`, which follows every
link breadth first, and `keywords`, a short Scrapy spider that gives requests priorities by the
topic's terms in anchor, URL and parent; `best-first` and `shark-plus` are this project's. Peers get
the topic's terms and seeds, no delay, and the whole recorded web; the first pages of it up to the
topic's budget count. Each crawl runs in a separate process.

`--others` names a Python interpreter that has crawl4ai and crawlee installed
(`pip install crawl4ai 'crawlee[beautifulsoup]'`): then `crawl4ai`, its best-first strategy with the
topic's terms as keywords over plain HTTP, and `crawlee`, which follows every link, run beside.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.focus import (
    Served,
    cases,
    collection_options,
    crawl,
    finished,
    in_flight,
    judge,
    summarize,
)
from benchmarks.processes import environment
from lab.demo import DemoServer
from topiccrawl.addons.simulate.harvest import BASELINE
from topiccrawl.addons.simulate.report import Areas, table
from topiccrawl.links.strategies import DEFAULT

if TYPE_CHECKING:
    import argparse

    from topiccrawl.addons.simulate.collection import RecordedWeb
    from topiccrawl.addons.simulate.harvest import Case, Harvest

ROOT = Path(__file__).resolve().parents[1]
SPIDERS = ("scrapy", "keywords")
"""Spiders of ``peers_spiders``."""
OTHERS = ("crawl4ai", "crawlee")
"""Crawlers that run by ``peers_others``."""
OURS = (BASELINE, DEFAULT)
BREADTH_FIRST = {
    "DEPTH_PRIORITY": "1",
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
}
"""Settings for broad crawls from Scrapy's documentation."""


def peer(web: RecordedWeb, case: Case, name: str, concurrency: int, others: str = "") -> Harvest:
    """Crawl with a peer and judge.

    Args:
        web: The recorded web.
        case: A topic of it.
        name: Of ``SPIDERS`` or ``OTHERS``.
        concurrency: Requests in flight.
        others: Python interpreter that has those of ``OTHERS``.

    Raises:
        SystemExit: If the crawl fails; with the end of its log.
    """
    settings = {
        "CONCURRENT_REQUESTS": concurrency, "CONCURRENT_REQUESTS_PER_DOMAIN": concurrency,
        "DOWNLOAD_DELAY": 0, "RETRY_ENABLED": False, "ROBOTSTXT_OBEY": True, "LOG_LEVEL": "ERROR",
        **(BREADTH_FIRST if name == "scrapy" else {}),
    }  # fmt: skip
    topic = {"seeds": ",".join(case.topic.seeds), "terms": ",".join(case.topic.terms)}
    if name in OTHERS:
        program = Path(__file__).with_name("peers_others.py")
        command = [others, str(program), name, *topic.values(), str(case.budget), str(concurrency)]
    else:
        program = Path(__file__).with_name("peers_spiders.py")
        command = [sys.executable, str(program), name, json.dumps(topic), json.dumps(settings)]
    with tempfile.TemporaryDirectory(prefix="topiccrawl-peers-") as folder:
        log = Path(folder, "access.tsv")
        with DemoServer(Served(web), log=log) as server:
            path = "" if name in OTHERS else str(ROOT)
            finished(
                command, {**environment(server.proxy), "HOME": folder, "PYTHONPATH": path}, folder
            )
        return judge(log, web, case, name)


def main() -> None:
    """Print a table of areas, by topic and crawler."""
    options = _parser().parse_args()
    others = OTHERS if options.others else ()
    names = options.peer or [*SPIDERS, *others, *OURS]
    if not options.others and set(names) & set(OTHERS):
        raise SystemExit("name the interpreter that has crawl4ai and crawlee with --others")
    areas: Areas = {name: {} for name in names}
    for web, case in cases(options):
        harvests = [
            peer(web, case, name, options.concurrency, options.others)
            if name not in OURS
            else crawl(web, case, name, in_flight(options.concurrency))
            for name in names
        ]
        for one in harvests:
            areas[one.name][case.topic.name] = one.area
        print(*table(case, harvests), "", sep="\n", flush=True)
    summarize(areas, options.json)


def _parser() -> argparse.ArgumentParser:
    parser = collection_options(__doc__, concurrency=16)
    parser.add_argument("--peer", action="append", choices=[*SPIDERS, *OTHERS, *OURS])
    parser.add_argument("--others", default="", metavar="PYTHON", help="has crawl4ai and crawlee")
    return parser


if __name__ == "__main__":
    main()
