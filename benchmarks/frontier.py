"""How fast, how large: the frontier under a crawl of many links.

    python -m benchmarks.frontier --urls 1000000 --hosts 1000 [--json FILE]

``push``: seeds queued. ``mixed``: a popped page adds 50 links, 60 % of them known, until the URLs
are reached; a link is an operation. ``pops``: pop and finish, no links. Politeness is off, so that
the data structures are measured and not the waiting.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, get_args

from topiccrawl.frontier.contract import (
    Ending,
    Limits,
    Outcome,
    Politeness,
    Seed,
)
from topiccrawl.frontier.embedded import EmbeddedFrontier
from topiccrawl.frontier.store import Sync
from topiccrawl.records import Offer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topiccrawl.frontier.contract import GroupStats, Lease
    from topiccrawl.records import Evidence

LINKS = 50
KNOWN = 0.6
ANCHOR = "新能源汽车销量再创新高多家车企"
CONTEXT = "来源本报记者昨日从协会获悉今年前三季度产销两旺出口增长"


class Largest:
    """A strategy that costs little: four numbers, the largest parent, sites' sections as groups."""

    name = "largest"
    fields: tuple[str, ...] = ("inherited", "anchor", "context", "parents")
    share = (1, 1)
    version = 1

    def fold(self, known: Evidence, new: Evidence) -> Evidence:
        """Largest of each, and one more parent."""
        if not known:
            return new
        return (
            max(new[0], known[0]),
            max(new[1], known[1]),
            max(new[2], known[2]),
            known[3] + 1.0,
        )

    def value(self, evidence: Evidence) -> float:
        """Weighted sum in [0, 1]."""
        inherited, anchor, context, parents = evidence
        return 0.4 * inherited + 0.3 * anchor + 0.2 * context + 0.1 * min(parents / 16.0, 1.0)

    def lane(self, evidence: Evidence) -> int:
        """Good anchors go first."""
        return 0 if evidence[1] > 0.8 else 1  # noqa: PLR2004

    def rescore(self, evidence: Evidence, anchor: str, context: str) -> Evidence:  # noqa: ARG002
        """Nothing changes."""
        return evidence

    def group(self, url: str) -> tuple[str, ...]:
        """The first directory."""
        return (url.split("/", 4)[3],)

    def bias(self, stats: Sequence[GroupStats]) -> float:
        """Mean relevance, drawn to that of the crawl."""
        mean = 0.5
        for pages, relevance in stats:
            mean = (mean * 4.0 + relevance) / (4.0 + pages)
        return 0.2 * (mean - 0.5)


class Web:
    """URLs by number, on hosts of equal size, and offers for them.

    Args:
        hosts: Number of hosts.
        seed: Of all chance.
    """

    def __init__(self, hosts: int, seed: int = 1) -> None:
        self.rng = random.Random(seed)  # noqa: S311 - not for secrets
        self.hosts = hosts
        self.made = 0

    def url(self, number: int) -> str:
        """URL of a number: host, one of eight sections, a day, an identity."""
        host = number % self.hosts
        page = number // self.hosts
        return f"http://news{host}.example.cn/s{page % 8}/2026-11/21/content_{number}.html"

    def offer(self, number: int) -> Offer:
        """An offer with random evidence."""
        chance = self.rng.random
        evidence = (chance(), chance(), chance(), 1.0)
        return Offer(self.url(number), 1, evidence, ANCHOR, CONTEXT)

    def page(self) -> list[Offer]:
        """Links of one page: some new, most known."""
        new = round(LINKS * (1.0 - KNOWN))
        fresh = range(self.made, self.made + new)
        self.made += new
        known = (self.rng.randrange(self.made) for _ in range(LINKS - new))
        return [self.offer(number) for number in (*fresh, *known)]


class Row(NamedTuple):
    """One measured figure."""

    name: str
    value: float
    unit: str


def anonymous_bytes() -> int:
    """Anonymous RAM of this process, bytes (0 where the system does not tell)."""
    status = Path("/proc/self/status")
    if not status.exists():
        return 0
    lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
    return int(lines["RssAnon"].split()[0]) * 1024


def percentile(times: list[float], share: float) -> float:
    """The time below which a share of all lie, milliseconds."""
    return 1000.0 * sorted(times)[min(int(len(times) * share), len(times) - 1)]


class Run:
    """One benchmark over one frontier.

    Args:
        folder: Where the frontier lies.
        web: What it is fed with.
        sync: What is flushed when.
    """

    def __init__(self, folder: Path, web: Web, sync: Sync) -> None:
        politeness = Politeness(
            delay=0.0, jitter=0.0, adaptive=False, robots=False, concurrency=1_000_000
        )
        self.frontier = EmbeddedFrontier(folder, Largest(), politeness, Limits(), sync=sync)
        self.web = web
        self.pops: list[float] = []
        self.stalls: list[float] = []
        self.cpu = 0.0

    def push(self, number: int) -> float:
        """Seeds a second."""
        start = time.perf_counter()
        self.frontier.push([Seed(self.web.url(n), 0.5) for n in range(number)])
        self.web.made = number
        return number / (time.perf_counter() - start)

    def pop(self) -> Lease:
        """The next lease, its time noted."""
        start = time.perf_counter()
        (lease,) = self.frontier.pop()
        seconds = time.perf_counter() - start
        self.pops.append(seconds)
        self.stalls.append(seconds)
        return lease

    def settle(self, lease: Lease, offers: list[Offer]) -> None:
        """Finish a page, the time noted."""
        outcome = Outcome(Ending.CRAWLED, relevance=lease.value % 1.0)
        start = time.perf_counter()
        self.frontier.finish(lease, outcome, offers)
        self.stalls.append(time.perf_counter() - start)

    def mixed(self, urls: int, window: int) -> float:
        """Crawl until there are so many URLs; link operations a second over the last window.

        ``cpu`` has the same by processor time, which says more where others use the machine.
        """
        spent = [0.0]
        cpu = 0.0
        while self.web.made < urls:
            if self.web.made > urls - window:
                spent.append(0.0)
                before = time.process_time()
                self._page(spent, measured=True)
                cpu += time.process_time() - before
            else:
                self._page(spent, measured=False)
        self.cpu = LINKS * (len(spent) - 1) / cpu
        return LINKS * (len(spent) - 1) / sum(spent[1:])

    def _page(self, spent: list[float], *, measured: bool) -> None:
        offers = self.web.page()
        if not measured:
            self.pops.clear()
            self.stalls.clear()
        start = time.perf_counter()
        self.settle(self.pop(), offers)
        spent[-1] = time.perf_counter() - start

    def drain(self, pages: int) -> float:
        """Pops with finish a second."""
        start = time.perf_counter()
        for _ in range(pages):
            self.settle(self.pop(), [])
        return pages / (time.perf_counter() - start)


def measure(urls: int, hosts: int, folder: Path, sync: Sync) -> list[Row]:
    """All figures of one size."""
    before = anonymous_bytes()
    run = Run(folder, Web(hosts), sync)
    rows = [Row("push", run.push(max(hosts, urls // 100)), "seeds/s")]
    rows.append(Row("mixed", run.mixed(urls, urls // 5), "links/s"))
    rows.append(Row("mixed_cpu", run.cpu, "links/s of processor time, making the links included"))
    rows.append(Row("mixed_pop_p99", percentile(run.pops, 0.99), "ms"))
    rows.append(Row("mixed_stall_p99", percentile(run.stalls, 0.99), "ms"))
    rows.append(Row("mixed_stall_max", percentile(run.stalls, 1.0), "ms"))
    run.pops.clear()
    run.stalls.clear()
    rows.append(Row("pops", run.drain(min(urls // 20, 100_000)), "pages/s"))
    rows.append(Row("pop_p99", percentile(run.pops, 0.99), "ms"))
    rows.append(Row("stall_p99", percentile(run.stalls, 0.99), "ms"))
    rows.append(Row("ram", (anonymous_bytes() - before) / urls, "bytes/URL"))
    run.frontier.close()
    rows.append(Row("disk", (folder / "data.mdb").stat().st_size / urls, "bytes/URL"))
    start = time.perf_counter()
    Run(folder, run.web, sync).frontier.close()
    rows.append(Row("open_close", time.perf_counter() - start, "s"))
    return rows


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--urls", type=int, default=1_000_000)
    parser.add_argument("--hosts", type=int, nargs="+", default=[1000])
    parser.add_argument("--sync", choices=get_args(Sync), default="checkpoint")
    parser.add_argument("--folder", type=Path, help="where to write (default: a temporary folder)")
    parser.add_argument("--json", type=Path, help="write the figures here")
    options = parser.parse_args()
    figures: dict[str, float] = {}
    for hosts in options.hosts:
        folder = Path(tempfile.mkdtemp(prefix="frontier-", dir=options.folder))
        try:
            rows = measure(options.urls, hosts, folder, options.sync)
        finally:
            shutil.rmtree(folder)
        sys.stdout.write(f"{options.urls:,} URLs, {hosts:,} hosts\n")
        for name, value, unit in rows:
            sys.stdout.write(f"  {name:16} {value:12,.2f} {unit}\n")
            figures[f"embedded_{name}_{options.urls}_{hosts}"] = value
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
