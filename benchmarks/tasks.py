"""Fairness and politeness of two tasks that share a site, on several workers with one killed.

    python -m benchmarks.tasks [--pages 150] [--sites 4] [--workers 3] [--quantum 4] [--local]

Each worker has its own server, so that the logs show which worker requested which site when. Both
tasks crawl all pages of one common site, and of their own sites. A worker that crawls is killed
with SIGKILL when a third is done; later both tasks are paused. Reported: pages that a task never
got, requests to a site that overlapped or arrived before the delay (also between two turns), the
shares of the common site when the first of the two was done with it, seconds from the pause to the
last request, and how often the site changed tasks. Without ``--local`` the state is in Redis (the
extra ``test``, or REDIS_TEST_URL), with it in the data folder.
"""

from __future__ import annotations

import asyncio
import signal
import tempfile
import time
from collections import Counter
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from scrapy.settings import Settings

from benchmarks.nodes_report import successive
from benchmarks.nodes_trial import Node
from benchmarks.output import command_line, show
from lab.demo.answers import Answer
from tests.redis_server import running
from topiccrawl.addons.tasks.records import TaskSpec
from topiccrawl.addons.tasks.service import TaskService
from topiccrawl.scheduler.frontiers import frontiers_of

if TYPE_CHECKING:
    from benchmarks.nodes_report import Hit
    from topiccrawl.addons.tasks.records import Shard
    from topiccrawl.addons.tasks.snapshot import Snapshot

COMMON = "common.example"
TOPIC = "新能源汽车"
DELAY = 0.1
LATENCY = 0.02
SLACK = 0.07
"""Tolerance in seconds for the delay from frontier to server on a busy machine."""
SETTINGS = {
    "DOWNLOAD_DELAY": str(DELAY),
    "DOWNLOAD_DELAY_JITTER": "0",
    "AUTOTHROTTLE_ENABLED": "0",
    "DOWNLOAD_TIMEOUT": "5",
    "TOPICCRAWL_RETRY_DELAY": "0.2",
    "TOPICCRAWL_MIN_NORMAL": "0",
    "TOPICCRAWL_NODE_SECONDS": "4",
    "TOPICCRAWL_SHARED_SECONDS": "0",  # fairness is judged by what the servers are asked
}


class EqualSites:
    """Sites of equal size, each a home page that links to all others."""

    def __init__(self, pages: int) -> None:
        self._pages = pages

    def answer(self, url: str, visit: int = 0, cookie: str = "") -> Answer:  # noqa: ARG002
        """Return a page, or 404 for robots.txt."""
        parts = urlsplit(url)
        if parts.path == "/robots.txt":
            return Answer(404)
        links = "".join(f'<a href="/{n}">{TOPIC} {n}</a>' for n in range(self._pages - 1))
        body = f"<title>{TOPIC} {url}</title><p>{TOPIC}的消息 {url}</p>"
        page = body + (links if parts.path == "/" else "")
        return Answer(200, (("Content-Type", "text/html; charset=utf-8"),), page.encode())


@dataclass
class Report:
    """Result of the tasks.

    Attributes:
        missing: (task, URL) never answered often enough for all tasks that wanted it.
        refetched: Answers beyond those wanted.
        overlaps: (site, seconds) of two requests to one site at once.
        hasty: (site, gap in seconds) of requests too soon after the one before.
        shares: Pages of the common site by task, when the first was done with it.
        turns: Turns on the common site.
        pause: Seconds from the pause to the last request before the tasks were resumed.
        held: Answers when they were resumed.
        resumed: Seconds from then to the next request.
        states: States of the tasks at the end.
        workers: Answers by worker.
        seconds: From the first to the last request.
    """

    missing: list[str] = field(default_factory=list)
    refetched: int = 0
    overlaps: list[tuple[str, float]] = field(default_factory=list)
    hasty: list[tuple[str, float]] = field(default_factory=list)
    shares: tuple[int, ...] = ()
    turns: int = 0
    pause: float = 0.0
    held: int = 0
    resumed: float = 0.0
    states: tuple[str, ...] = ()
    workers: tuple[int, ...] = ()
    seconds: float = 0.0


class Trial:
    """Trial: run two tasks to their end.

    Args:
        folder: Folder of logs and state.
        url: Redis' address, or "" for state in the folder.
        pages: Number of pages of each site.
        sites: Number of sites of each task, without the common one.
        workers: Number of workers.
        quantum: Duration of a turn in seconds.
        pause: Seconds without a request after which a pause of both tasks ends; 0: no pause.
    """

    def __init__(  # noqa: PLR0913 - what a trial is made of
        self, folder: Path, url: str, *, pages: int, sites: int, workers: int, quantum: float,
        pause: float,
    ) -> None:  # fmt: skip
        data = str(folder / "data")
        options = {**SETTINGS, "TOPICCRAWL_DATA_DIR": data, "TOPICCRAWL_WORK_QUANTUM": str(quantum),
                   "TOPICCRAWL_WORK_SITES": "2", "LOG_LEVEL": "INFO"}  # fmt: skip
        if url:
            options["REDIS_URL"] = url
        self.pages, self.sites, self.pause = pages, sites, pause
        web = EqualSites(pages)
        self.places = [Node(number, folder, web, LATENCY) for number in range(workers)]
        self._options = options
        settings = Settings(options)
        settings.setmodule("topiccrawl.settings", priority="default")
        self.ledger = frontiers_of(settings).ledger()
        self.service = TaskService(self.ledger)
        self.report = Report()
        self.tasks: list[str] = []

    def run(self, seconds: float = 1200.0) -> Report:
        """Crawl to the end; return the report."""
        with ExitStack() as stack:
            for place in self.places:
                stack.enter_context(place.server)
            try:
                asyncio.run(self._run(time.monotonic() + seconds))
            finally:
                for place in self.places:
                    _kill(place)
        self._judge()
        return self.report

    async def _run(self, end: float) -> None:
        wanted = [self._hosts(task) for task in (1, 2)]
        for hosts in wanted:
            sites = tuple(f"http://{host}/" for host in hosts)
            made = await self.service.create(TaskSpec("topic", {"topic": TOPIC}, sites))
            self.tasks.append(made.task.id)
        for place in self.places:
            place.start(["work", "--once"], self._options)
        total = sum(map(len, wanted)) * self.pages
        await self._until(total // 3, end)
        await self._kill(end)
        if self.pause:
            await self._until(total // 2, end)
            await self._pause()
        while any(place.running() for place in self.places):
            if time.monotonic() > end:
                raise SystemExit(
                    "the tasks do not end:\n" + self.places[0].output.read_text()[-3000:]
                )
            await self._watch()
        states = [await self.service.show(task) for task in self.tasks]
        self.report.states = tuple(state.state for state in states)
        self.report.turns = sum(s.turns for s in self._common(await self.service.snapshot()))
        await self.ledger.close()

    def _hosts(self, task: int) -> list[str]:
        return [COMMON, *(f"own{task}{n}.example" for n in range(self.sites))]

    async def _until(self, answers: int, end: float) -> None:
        while len(self._hits()) < answers and time.monotonic() < end:
            await self._watch()

    async def _watch(self) -> None:
        """Record the shares of the common site when the first task has finished it."""
        await asyncio.sleep(0.2)
        common = self._common(await self.service.snapshot())
        if not self.report.shares and any(shard.state == "done" for shard in common):
            self.report.shares = tuple(shard.pages for shard in common)

    def _common(self, snapshot: Snapshot) -> list[Shard]:
        return [snapshot.shards[f"{task}/{COMMON}"] for task in self.tasks]

    async def _kill(self, end: float) -> None:
        """Kill a worker that crawls, as soon as one does."""
        while time.monotonic() < end:
            busy = {worker.pid for worker in await self.service.workers() if worker.shards}
            for place in self.places:
                if place.process is not None and place.process.pid in busy:
                    _kill(place)
                    return
            await asyncio.sleep(0.05)

    async def _pause(self) -> None:
        for task in self.tasks:
            await self.service.pause(task)
        paused = time.monotonic()
        while (last := self._last()) > time.monotonic() - self.pause:  # noqa: ASYNC110 - of processes
            await asyncio.sleep(0.05)
        self.report.pause = last - paused
        before = self.report.held = len(self._hits())
        for task in self.tasks:
            await self.service.resume(task)
        resumed = time.monotonic()
        await self._until(before + 1, resumed + 30)
        self.report.resumed = min((h.began for h in self._hits()[before:]), default=0.0) - resumed

    def _last(self) -> float:
        return max(hit.began for hit in self._hits())

    def _hits(self) -> list[Hit]:
        return sorted(hit for place in self.places for hit in place.hits())

    def _judge(self) -> None:
        hits = self._hits()
        answered = Counter(hit.url for hit in hits if hit.status == "200")
        wanted = Counter(
            f"http://{host}/{n}" for task in (1, 2) for host in self._hosts(task)
            for n in ("", *range(self.pages - 1))
        )  # fmt: skip
        report = self.report
        report.missing = [url for url, times in wanted.items() if answered[url] < times]
        report.refetched = sum((answered - wanted).values())
        report.workers = tuple(sum(h.node == p.number for h in hits) for p in self.places)
        report.seconds = hits[-1].ended - hits[0].began
        for site, one, other in successive(hits):
            if other.began < one.ended - SLACK:
                report.overlaps.append((site, one.ended - other.began))
            if other.began - one.began < DELAY - SLACK:
                report.hasty.append((site, other.began - one.began))


def _kill(place: Node) -> None:
    """Kill the process of a node and wait for its end."""
    place.signal(signal.SIGKILL)
    if place.process is not None:
        place.process.wait()


def main() -> None:
    """Run the command line."""
    parser = command_line(__doc__, pages=150, sites=4, workers=3, quantum=4.0)
    parser.add_argument("--local", action="store_true")
    options = parser.parse_args()
    place = nullcontext("") if options.local else running()
    with tempfile.TemporaryDirectory(prefix="topiccrawl-tasks-") as folder, place as url:
        report = Trial(
            Path(folder), url, pages=options.pages, sites=options.sites, workers=options.workers,
            quantum=options.quantum, pause=5.0,
        ).run()  # fmt: skip
    wanted = 2 * (options.sites + 1) * options.pages
    one, other = sorted(report.shares)
    line = (
        f"{wanted} pages in {report.seconds:.0f} s by {report.workers} with one worker killed;"
        f" tasks {report.states}; lost {len(report.missing)}, fetched again {report.refetched};"
        f" requests to one site at once {len(report.overlaps)}, too soon {len(report.hasty)};"
        f" common site: shares {report.shares} ({(other - one) / other:.0%} apart),"
        f" {report.turns} turns;"
        f" paused after {report.pause:.2f} s, went on after {report.resumed:.2f} s"
    )
    troubles = map(str, (*report.missing[:9], *report.overlaps[:9], *report.hasty[:9]))
    show(vars(report), options.json, "\n    ".join([line, *troubles]))


if __name__ == "__main__":
    main()
