"""Cost of the dashboard: processor time of the same crawl with and without it, in turns.

    python -m benchmarks.dashboard [--pairs 6] [--pages 1200]

*With*: figures are collected, the page is served, one client reads it like a browser (stream,
articles, chains, patterns), and Prometheus scrapes it every fifteen seconds. *Without*: none of
this, not even the figures. Processor seconds of the crawl's process per parsed page are compared,
since wall time depends on other work of the machine: from the opening of the crawl on, and from the
start of the process (the imports for the page take a quarter of a second, once).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import aiohttp

from benchmarks.processes import environment, processor_seconds
from lab.demo.crawl import command, options
from lab.demo.server import DemoServer
from lab.demo.web import generate
from topiccrawl.settings import EXTENSIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lab.demo.web import Web

PORT = 8428
READ_EVERY = 6.0
LISTED_EVERY = 2.5
SCRAPED_EVERY = 15.0
COMMON = {
    "DOWNLOAD_DELAY": "0.01", "CONCURRENT_REQUESTS_PER_DOMAIN": "4", "LOG_LEVEL": "INFO",
    "TOPICCRAWL_RETRY_DELAY": "0.2", "DOWNLOAD_TIMEOUT": "2", "AUTOTHROTTLE_MAX_DELAY": "0.2",
}  # fmt: skip
OWN = ("figures.CrawlFigures", "dashboard.Dashboard")


def main() -> None:
    """Print each pair, and the figures of all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--pages", type=int, default=1_200)
    given = parser.parse_args()
    web = generate(1, given.pages, faults=False)
    more: list[tuple[float, float]] = []
    print("pair  without ms/page  with ms/page  more  with the start")
    for number in range(given.pairs):
        order = (False, True) if number % 2 else (True, False)
        found = {shown: cost(web, shown=shown) for shown in order}
        without, those = found[False], found[True]
        more.append((those.crawling / without.crawling - 1, those.whole / without.whole - 1))
        one, two = 1000 * without.crawling, 1000 * those.crawling
        print(
            f"{number + 1:>4}  {one:>15.2f}  {two:>12.2f}  {more[-1][0]:+.1%}  {more[-1][1]:+.1%}",
            flush=True,
        )
    for what, values in zip(("crawling", "with the start"), zip(*more, strict=True), strict=True):
        low, high = interval(values)
        median = statistics.median(values)
        print(f"{what}: median {median:+.2%}, 95 % interval {low:+.2%} to {high:+.2%}")


class Cost(NamedTuple):
    """Processor seconds per page of one crawl.

    Attributes:
        crawling: Since the crawl was opened.
        whole: Since the start of the process.
    """

    crawling: float
    whole: float


def cost(web: Web, *, shown: bool) -> Cost:
    """Return the cost of one crawl."""
    left_out = () if shown else OWN
    kept = {name: None if name.endswith(left_out or "-") else at for name, at in EXTENSIONS.items()}
    settings = {**COMMON, "EXTENSIONS": json.dumps(kept)}
    if shown:
        settings |= {"TOPICCRAWL_DASHBOARD": str(PORT), "TOPICCRAWL_DASHBOARD_TOKEN": "off"}
    with tempfile.TemporaryDirectory() as folder, DemoServer(web) as server:
        line = command(web, Path(folder), options(settings))
        log = Path(folder) / "log"
        with log.open("wb") as file, following(on=shown):
            process = subprocess.Popen(line, env=environment(server.proxy), stderr=file)
            before = used_at_opening(process.pid, log)
            whole = processor_seconds(process)
        text = log.read_text()
    found = re.search(r"this run +(\d+) pages", text)
    if process.returncode or found is None:
        sys.exit(text[-2000:])
    pages = int(found[1])
    return Cost((whole - before) / pages, whole / pages)


def used_at_opening(pid: int, log: Path) -> float:
    """Return the processor seconds of a process until its log reports the crawl as open."""
    stat, used = Path(f"/proc/{pid}/stat"), 0.0
    while b"Spider opened" not in log.read_bytes():
        fields = stat.read_text().rpartition(")")[2].split()
        used = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        if fields[0] == "Z":  # it ended before
            break
        time.sleep(0.02)
    return used


@contextmanager
def following(*, on: bool) -> Iterator[None]:
    """A client and Prometheus, in their own thread."""
    if not on:
        yield
        return
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_until_complete, args=(_follow(),), daemon=True)
    thread.start()
    yield
    thread.join(10)


async def _follow() -> None:
    base = f"http://127.0.0.1:{PORT}"
    async with aiohttp.ClientSession() as session:
        while True:
            with suppress(aiohttp.ClientConnectionError):
                stream = await session.get(f"{base}/api/events")
                break
            await asyncio.sleep(0.2)
        asked = [
            asyncio.create_task(_ask(session, base + path, every))
            for path, every in (
                ("/api/more", READ_EVERY), ("/api/articles?limit=50", LISTED_EVERY),
                ("/metrics", SCRAPED_EVERY),
            )
        ]  # fmt: skip
        with suppress(aiohttp.ClientError):
            async for _ in stream.content:
                pass
        for task in asked:
            task.cancel()


async def _ask(session: aiohttp.ClientSession, url: str, every: float) -> None:
    with suppress(aiohttp.ClientError):
        while True:
            async with session.get(url) as answer:
                await answer.read()
            await asyncio.sleep(every)


def interval(values: Sequence[float], draws: int = 5_000) -> tuple[float, float]:
    """95 % interval of the median, by bootstrap."""
    chance = random.Random(1)  # noqa: S311 - draws of a bootstrap
    found = sorted(statistics.median(chance.choices(values, k=len(values))) for _ in range(draws))
    return found[int(0.025 * draws)], found[int(0.975 * draws)]


if __name__ == "__main__":
    main()
