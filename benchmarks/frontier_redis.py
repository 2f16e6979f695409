"""The frontier in Redis under a crawl of many links: link operations, leased pops, bytes a URL.

    python -m benchmarks.frontier_redis [--urls 200000] [--hosts 1000] [--json FILE]

One client, batches as in a crawl, the server on loopback. ``redis_mixed`` and ``redis_leased_pops``
count the time until Redis has answered for everything, ``..._cpu`` only this process' own (which
says more where others use the machine); ``redis_bytes_url`` is what the server's memory grew by,
with indexes, links and letters, a URL.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

import redis

from benchmarks.frontier import LINKS, Largest, Web, percentile
from benchmarks.nodes import server_url
from topiccrawl.frontier.contract import Ending, Limits, Outcome, Politeness, Seed
from topiccrawl.nodes.frontier import SharedFrontier, discard

NAME = "benchmark"
POLITENESS = Politeness(delay=0.0, jitter=0.0, adaptive=False, robots=False, concurrency=1_000_000)


def figures(urls: int = 200_000, hosts: int = 1000) -> dict[str, float]:
    """Figures by name; runs a server of its own where REDIS_TEST_URL names none."""
    with server_url() as url, redis.Redis.from_url(url) as client:
        discard(client, NAME)
        try:
            with tempfile.TemporaryDirectory(prefix="frontier-redis-") as folder:
                return _measure(client, Path(folder), urls, hosts)
        finally:
            discard(client, NAME)


def _measure(client: redis.Redis, folder: Path, urls: int, hosts: int) -> dict[str, float]:
    before = _memory(client)
    frontier = SharedFrontier(
        client, NAME, folder / "node", Largest(), POLITENESS, Limits(), ttl=60.0
    )
    web = Web(hosts)
    web.made = max(hosts, urls // 100)
    frontier.push([Seed(web.url(n), 0.5) for n in range(web.made)])
    found = _mixed(frontier, web, urls)
    found["redis_bytes_url"] = (_memory(client) - before) / urls
    found |= _pops(frontier, min(urls // 20, 20_000))
    frontier.close()
    start = time.perf_counter()
    again = SharedFrontier(client, NAME, folder / "node", Largest(), POLITENESS, Limits())
    found["redis_load_urls"] = urls / (time.perf_counter() - start)
    again.close()
    return found


def _mixed(frontier: SharedFrontier, web: Web, urls: int) -> dict[str, float]:
    """Crawl until there are so many URLs; link operations a second, links made apart."""
    spent = cpu = 0.0
    pages = 0
    stalls: list[float] = []
    while web.made < urls:
        offers = web.page()
        start, begun = time.perf_counter(), time.process_time()
        (lease,) = frontier.pop()
        frontier.finish(lease, Outcome(Ending.CRAWLED, relevance=lease.value % 1.0), offers)
        stalls.append(time.perf_counter() - start)
        spent += stalls[-1]
        cpu += time.process_time() - begun
        pages += 1
    start = time.perf_counter()
    frontier.commit()
    spent += time.perf_counter() - start
    return {
        "redis_mixed": pages * LINKS / spent,
        "redis_mixed_cpu": pages * LINKS / cpu,
        "redis_stall_p99_ms": percentile(stalls, 0.99),
    }


def _pops(frontier: SharedFrontier, pages: int) -> dict[str, float]:
    """Pops with finish a second, ten leases at a time."""
    start, begun = time.perf_counter(), time.process_time()
    done = 0
    while done < pages:
        for lease in frontier.pop(10):
            frontier.finish(lease, Outcome(Ending.CRAWLED, relevance=0.5))
            done += 1
    frontier.commit()
    return {
        "redis_leased_pops": done / (time.perf_counter() - start),
        "redis_leased_pops_cpu": done / (time.process_time() - begun),
    }


def _memory(client: redis.Redis) -> int:
    told = client.info("memory")
    return int(told["used_memory"]) if isinstance(told, dict) else 0


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--urls", type=int, default=200_000)
    parser.add_argument("--hosts", type=int, default=1000)
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    found = figures(options.urls, options.hosts)
    for name, value in found.items():
        sys.stdout.write(f"{name:24} {value:12,.2f}\n")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
