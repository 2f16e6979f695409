"""Processor time per second of each part of the dashboard in the crawl's process.

    python -m benchmarks.dashboard_parts [--articles 2000] [--hosts 2000]

The paired runs of ``benchmarks.dashboard`` measure the cost of all parts together, but need a quiet
machine; this one does not. One reader is connected; Prometheus scrapes every fifteen seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
import time
from typing import TYPE_CHECKING, Any

from scrapy.settings import Settings

from topiccrawl.addons.dashboard.channel import difference, event
from topiccrawl.addons.dashboard.metrics import exposition
from topiccrawl.addons.dashboard.stored import CACHE_SECONDS, RunsSource
from topiccrawl.extensions.figures import HOSTS, SHARE
from topiccrawl.frontier.contract import Limits, Politeness, Seed
from topiccrawl.frontier.embedded import EmbeddedFrontier
from topiccrawl.links.strategies import FirstCome
from topiccrawl.model import Article
from topiccrawl.storage.runs import EMPTY, INTERVAL, LocalRuns
from topiccrawl.storage.sqlite import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

TOPIC = "新能源汽车"
REPEATED = 30


def main() -> None:
    """Print each part and their sum."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--articles", type=int, default=2_000)
    parser.add_argument("--hosts", type=int, default=2_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_measure(folder, options.articles, options.hosts))


async def _measure(folder: str, articles: int, hosts: int) -> None:
    await _fill(folder, articles)
    frontier = EmbeddedFrontier(f"{folder}/f", FirstCome(), Politeness(), Limits(), sync="never")
    frontier.push(Seed(f"http://h{n}.test/{m}") for n in range(hosts) for m in range(5))
    settings, runs = Settings({"TOPICCRAWL_DATA_DIR": folder}), LocalRuns(folder)
    source = RunsSource(settings)
    old, new = _state(frontier, 0), _state(frontier, 1)

    async def census() -> object:
        return frontier.census(HOSTS)

    async def stream() -> object:
        return event(difference(old, new)).encode()

    async def more() -> object:
        return await RunsSource(settings).more("")

    async def metrics() -> object:
        return exposition([new])

    total = 0.0
    print("part                 ms each   every s   ms a second")
    for name, work, every in (
        ("hosts", census, 1.0), ("what changed", stream, 1.0),
        ("record of the run", lambda: runs.put(new), INTERVAL),
        ("articles", lambda: source.articles("", 0, 50), 2.5),
        ("chains, changes", more, CACHE_SECONDS),
        ("metrics", metrics, 15.0),
    ):  # fmt: skip
        each = await _cost(work)
        seconds = max(every, each / 1000 / SHARE) if work is census else every
        total += each / seconds
        print(f"{name:<20} {each:>7.2f}   {seconds:>7.1f}   {each / seconds:>11.2f}")
    await source.close()
    frontier.close()
    print(f"together {total:.1f} ms a second: {total / 10:.2f} % of a processor")


async def _cost(work: Callable[[], Awaitable[Any]]) -> float:
    """Processor milliseconds of one call, threads included."""
    await work()
    began = time.process_time()
    for _ in range(REPEATED):
        await work()
    return 1000 * (time.process_time() - began) / REPEATED


async def _fill(folder: str, articles: int) -> None:
    chance = random.Random(1)  # noqa: S311 - made texts
    letters = [chr(code) for code in range(0x4E00, 0x4E00 + 2_000)]
    store = SqliteStore(folder)
    await store.open()
    texts = ["".join(chance.choices(letters, k=300)) for _ in range(articles)]
    await store.save(
        [
            Article(
                f"http://s{n % 40}.test/{n}", text[:20], text, site=f"s{n % 40}.test",
                topics={TOPIC: 0.3}, terms=(("电池", 0.2), ("汽车", 0.1)),
            )
            for n, text in enumerate(texts)
        ]
    )  # fmt: skip
    await store.save([Article(f"http://r.test/{n}", "", texts[n]) for n in range(articles // 10)])
    await store.close()


def _state(frontier: EmbeddedFrontier, more: int) -> dict[str, Any]:
    census = frontier.census(HOSTS)
    listed = [{**host._asdict(), "pages": host.pages + more, "failed": 0} for host in census.hosts]
    run = {**EMPTY["run"], "id": "r", "topic": TOPIC, "finished": None, "seconds": float(more)}
    points = [[float(n), n, n // 2, 0.5, n // 3] for n in range(1_199 + more)]
    return {
        **EMPTY, "run": run, "hosts": {"states": census.states, "list": listed},
        "totals": {**EMPTY["totals"], "pages": more}, "series": {"every": 1.0, "points": points},
    }  # fmt: skip


if __name__ == "__main__":
    main()
