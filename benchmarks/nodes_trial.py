"""Crawls of a demo web by several nodes that are killed and stopped, with their servers' logs."""

from __future__ import annotations

import json
import random
import re
import signal
import time
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import redis

from benchmarks.nodes_report import Hit, Interruption, Report, violations
from benchmarks.processes import start, topic_crawl
from lab.demo import DemoServer, Web, generate
from lab.demo.answers import Answer
from topiccrawl.frontier.rows import key_of

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from lab.demo.server import Answered, Answering

DELAY = 0.3
LATENCY = 0.05
HOLD_SECONDS = 2.0
"""Seconds after its response that a node that has timed out may still hold a page."""
SETTINGS = {
    "TOPICCRAWL_NEWS_FILTER": "0",  # every page counts
    "DOWNLOAD_DELAY": str(DELAY),
    "DOWNLOAD_DELAY_JITTER": "0",
    "AUTOTHROTTLE_ENABLED": "0",
    "CONCURRENT_REQUESTS_PER_DOMAIN": "1",
    "DOWNLOAD_TIMEOUT": "30",
    "TOPICCRAWL_RETRY_DELAY": "0.2",
    "TOPICCRAWL_TRAPS_ENABLED": "0",
    "TOPICCRAWL_MIN_NORMAL": "0",
    "TOPICCRAWL_NODE_SECONDS": "10",
    "LOG_LEVEL": "INFO",
}
_TIMED_OUT = re.compile(r"^([-\d]+ [\d:]+) .*timed out this node after ([\d.]+) s", re.MULTILINE)
EVENTS = ("kill", "kill", "stop", "leave")


class Node:
    """A node: crawl processes in succession, and a server that records their requests.

    Args:
        number: Number of the node.
        folder: For logs.
        web: Source of the server's answers.
        latency: Seconds that each answer takes.
    """

    def __init__(self, number: int, folder: Path, web: Answering, latency: float) -> None:
        self.number = number
        self.output = folder / f"node-{number}.log"
        self.web: Any = web
        self._hits: list[Hit] = []
        self.server = DemoServer(web, log=folder / f"access-{number}.tsv", latency=latency)
        self.server.answered = self._note
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, arguments: Sequence[str], settings: Mapping[str, object]) -> None:
        """Start a process of ``scrapy``."""
        self.process = start(arguments, settings, self.server.proxy, self.output)

    def signal(self, number: int) -> None:
        """Send a signal to the process, if it runs."""
        if self.process is not None:
            self.process.send_signal(number)

    def running(self) -> bool:
        """Return whether a process runs."""
        return self.process is not None and self.process.poll() is None

    def hits(self) -> list[Hit]:
        """Return the requests that the server answered."""
        return self._hits.copy()  # its thread appends

    def losses(self) -> Iterator[tuple[float, float]]:
        """Yield the times at which processes learnt of timeouts, and the seconds of silence."""
        log = self.output.read_text(encoding="utf-8", errors="replace")
        for at, seconds in _TIMED_OUT.findall(log):
            age = time.time() - time.mktime(time.strptime(at, "%Y-%m-%d %H:%M:%S"))
            yield time.monotonic() - age, float(seconds)

    def _note(self, one: Answered) -> None:
        self._hits.append(Hit(one.came, one.ended, self.number, one.url, str(one.status), one.read))

    def answers(self) -> int:
        """Return the number of requests answered so far."""
        return len(self._hits)


class Trial:
    """One crawl by several nodes.

    Args:
        folder: For logs and stores.
        web: The web to crawl.
        url: Redis' address; its database is emptied.
        nodes: Number of nodes.
        settings: For all of them.
        latency: Seconds that each answer takes.
    """

    def __init__(
        self, folder: Path, web: Web | EvenWeb, url: str, nodes: int, *,
        settings: dict[str, str] = SETTINGS, latency: float = LATENCY,
    ) -> None:  # fmt: skip
        self.web = web
        self.settings = settings
        self.nodes = [Node(number, folder, web, latency) for number in range(nodes)]
        self._folder = folder
        self.events: list[str] = []
        self._interruptions: list[Interruption] = []
        self._url = url
        with redis.Redis.from_url(url) as client:
            client.flushdb()

    def run(self, events: int = 0, seed: int = 0, seconds: float = 1200.0) -> Report:
        """Crawl to the end, with this many events, and return the result."""
        for node in self.nodes:
            node.server.__enter__()
        try:
            began = time.monotonic()
            for node in self.nodes:
                self._start(node)
            self._trouble(events, random.Random(seed), began + seconds)  # noqa: S311
            self._finish(began + seconds)
        finally:
            for node in self.nodes:
                node.signal(signal.SIGCONT)
                node.signal(signal.SIGKILL)
                if node.process is not None:
                    node.process.wait()
                node.server.__exit__(None, None, None)
        return self._report(began)

    def _start(self, node: Node) -> None:
        data = self._folder / f"data-{node.number}"
        where = {"TOPICCRAWL_DATA_DIR": data, "REDIS_URL": self._url}
        node.start(topic_crawl(node.web), {**where, **self.settings})

    def _trouble(self, events: int, rng: random.Random, end: float) -> None:
        """Kill, stop or end random nodes, each time after some more answered pages."""
        most = max(10, len(self.web.obtainable) // (events + 1))
        for _ in range(events):
            self._until(self._answers() + rng.randint(most // 2, most), end)
            node = rng.choice(self.nodes)
            event = rng.choice(EVENTS)
            self.events.append(f"{event} {node.number} at {time.monotonic():.2f}")
            if event != "leave" and node.running():
                node.signal(signal.SIGSTOP)
                self._interruptions.append(self._interruption(node))
            if event == "stop":
                time.sleep(float(self.settings["TOPICCRAWL_NODE_SECONDS"]) * rng.uniform(0.5, 2.0))
                node.signal(signal.SIGCONT)
                continue
            node.signal(signal.SIGKILL if event == "kill" else signal.SIGINT)
            self._wait_for_end(node)
            if rng.random() < 0.7 or not any(other.running() for other in self.nodes):  # noqa: PLR2004
                self._start(node)

    def _interruption(self, node: Node) -> Interruption:
        """Return the leases of a node that was just stopped."""
        pid = node.process.pid if node.process is not None else 0
        at = last_message = time.monotonic()
        mine: set[bytes] = set()
        with redis.Redis.from_url(self._url) as client:
            for base in {name[: -len("claims")] for name in client.keys("{*}:claims")}:
                names = client.hgetall(base + b"names")
                epochs = {epoch for epoch, name in names.items() if json.loads(name)["pid"] == pid}
                for epoch in epochs:
                    left = client.zscore(base + b"nodes", epoch) / 1000.0 - time.time()
                    last_message = at + left - float(self.settings["TOPICCRAWL_NODE_SECONDS"])
                for name in client.scan_iter(base + b"leased:*", count=1000):
                    leases = client.hgetall(name)
                    mine |= {key for key, epoch in leases.items() if epoch in epochs}
        return Interruption(at, node.number, last_message, frozenset(mine))

    def _wait_for_end(self, node: Node, seconds: float = 60.0) -> None:
        """Wait for a node's end; kill it if it missed the signal while it was starting."""
        end = time.monotonic() + seconds
        while node.running() and time.monotonic() < end:
            time.sleep(0.02)
        if node.running():
            self.events[-1] += " (deaf, killed)"
            print(node.output.read_text(errors="replace")[-2000:])
            node.signal(signal.SIGKILL)
        if node.process is not None:
            node.process.wait()

    def _until(self, answers: int, end: float) -> None:
        while self._answers() < answers and time.monotonic() < end:
            if not any(node.running() for node in self.nodes):
                return
            time.sleep(0.02)

    def _finish(self, end: float) -> None:
        """Wait until all end; if none is running, start one that finishes the crawl."""
        if not any(node.running() for node in self.nodes):
            self._start(self.nodes[0])
        for node in self.nodes:
            while node.running():
                if time.monotonic() > end:
                    text = node.output.read_text(errors="replace")[-3000:]
                    raise SystemExit(f"node {node.number} does not end:\n{text}")
                time.sleep(0.05)

    def _answers(self) -> int:
        return sum(node.answers() for node in self.nodes)

    def _report(self, began: float) -> Report:
        hits = sorted(hit for node in self.nodes for hit in node.hits())
        wanted = {truth.url for truth in self.web.truth.values() if truth.obtainable}
        pages = [hit for hit in hits if hit.status == "200" and hit.url in wanted]
        answered = Counter(hit.url for hit in pages)
        split = Counter(hit.node for hit in pages)
        silent, needless = self._again(pages)
        shared, hasty, misread = violations(hits, float(self.settings["DOWNLOAD_DELAY"]))
        return Report(
            len(wanted), tuple(sorted(wanted - answered.keys())),
            sum(answered.values()) - len(answered), self._allowed(pages), silent, needless,
            tuple(silence for node in self.nodes for _, silence in node.losses()),
            tuple(self.events), shared, hasty, misread,
            max((hit.read - hit.began for hit in hits), default=0.0),
            tuple(split[node.number] for node in self.nodes),
            (max(hit.ended for hit in pages) if pages else began) - began,
            (min(hit.began for hit in hits) if hits else began) - began,
        )  # fmt: skip

    def _allowed(self, pages: list[Hit]) -> int:
        """Return the number of pages that nodes had leased when they were killed or stopped."""
        return sum(
            len(interruption.leased | {key_of(hit.url) for hit in pages if interruption.had(hit)})
            for interruption in self._interruptions
        )

    def _again(self, pages: list[Hit]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return repeated answers of pages that no node had leased when it was killed or stopped.

        First those held by nodes that had timed out, then the rest.
        """
        last: dict[str, Hit] = {}
        silent: list[str] = []
        needless: list[str] = []
        losses = {node.number: list(node.losses()) for node in self.nodes}
        for hit in pages:
            before = last.get(hit.url)
            last[hit.url] = hit
            if before is not None and not any(
                interruption.had(before) for interruption in self._interruptions
            ):
                held = _was_held(before, losses[before.node])
                ages = [b.at - before.ended for b in self._interruptions if b.node == before.node]
                (silent if held else needless).append(
                    f"{hit.url} at {before.node}, {hit.began - before.ended:.1f} s later at"
                    f" {hit.node}; done to the first: {', '.join(f'{age:.1f}' for age in ages)}"
                )
        return tuple(silent), tuple(needless)


def _was_held(hit: Hit, losses: list[tuple[float, float]]) -> bool:
    """Return whether a node held a page when it timed out (by its log)."""
    silent = [(at - silence, at + 1.0) for at, silence in losses]
    return any(hit.began <= late and early <= hit.ended + HOLD_SECONDS for early, late in silent)


def web_of(seed: int, pages: int) -> Web:
    """Return a web of many small hosts, without traps and faults."""
    return generate(seed, pages, traps=False, faults=False, sites=min(60, max(6, pages // 25)))


class EvenWeb:
    """Hosts of equal size, without other work, to measure the gain from several nodes.

    Attributes:
        topic, seeds, truth, obtainable: As a demo web has them.
    """

    def __init__(self, hosts: int, pages: int, topic: str = "新能源汽车") -> None:
        self.topic = topic
        self._links = [f"http://even{n}.example/" for n in range(hosts)]
        self._pages = pages
        self.seeds = (self._links[0],)
        urls = [*self._links, *(f"{home}{n}" for home in self._links for n in range(pages - 1))]
        self.truth = {url: Even(url) for url in urls}
        self.obtainable = tuple(urls)

    def answer(self, url: str, visit: int = 0, cookie: str = "") -> Answer:  # noqa: ARG002
        """Return a page; home pages link to each other and to their own pages."""
        if url not in self.truth:
            return Answer(404)
        own = [f"{url}{n}" for n in range(self._pages - 1)] if url in self._links else []
        links = "".join(f'<a href="{to}">新能源汽车 {to}</a> ' for to in (*own, *self._links))
        body = f"<html><title>新能源汽车</title><body>新能源汽车 {url} {links}</body></html>"
        return Answer(200, (("Content-Type", "text/html; charset=utf-8"),), body.encode())


class Even(NamedTuple):
    """Truth of a page of ``EvenWeb``."""

    url: str
    obtainable: bool = True
