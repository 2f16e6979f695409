"""Memory and disk of hosts that links refer to but that are never requested.

    python -m benchmarks.frontier_hosts [--hosts 20000]

Pages name 500 new hosts each, one URL a host. Bytes a host, of the process (RssAnon) and of files,
after as many others: what is needed to write at all is there by then, and does not grow with hosts.
"""

from __future__ import annotations

import gc
import tempfile
from pathlib import Path

from benchmarks.frontier import RUDE, anonymous_bytes
from benchmarks.frontier_web import Largest
from benchmarks.output import command_line, show
from topiccrawl.frontier.contract import Ending, Limits, Outcome, Seed
from topiccrawl.frontier.embedded import EmbeddedFrontier
from topiccrawl.model import Offer

PAGE = 500
UNBOUNDED = Limits(max_domain_hosts=0, max_page_hosts=0, max_hosts=0)


def measure(folder: str, hosts: int) -> tuple[float, float]:
    """Return bytes of memory and of disk for each of so many hosts."""
    frontier = EmbeddedFrontier(folder, Largest(), RUDE, UNBOUNDED)
    frontier.push(Seed(f"http://seed.test/{number}", 1.0) for number in range(2 * hosts // PAGE))
    before = 0, 0
    for first in range(0, 2 * hosts, PAGE):
        if first == hosts:
            before = _state(frontier, folder)
        (lease,) = frontier.pop()
        names = (f"host{n}.site{n // 5}" for n in range(first, first + PAGE))
        offers = [Offer(f"http://{name}.test/", 1, (0.1, 0.1, 0.1, 1.0)) for name in names]
        frontier.finish(lease, Outcome(Ending.CRAWLED), offers)
    memory, disk = (
        (after - old) / hosts for after, old in zip(_state(frontier, folder), before, strict=True)
    )
    frontier.close()
    return memory, disk


def _state(frontier: EmbeddedFrontier, folder: str) -> tuple[int, int]:
    frontier.write()
    frontier.store.wait_for_commit()
    gc.collect()
    files = [path.stat().st_blocks * 512 for path in Path(folder).rglob("*") if path.is_file()]
    return anonymous_bytes(), sum(files)


def main() -> None:
    """Print bytes a host."""
    options = command_line(__doc__, hosts=20_000).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        memory, disk = measure(folder, options.hosts)
    show({"host_ram_bytes": memory, "host_disk_bytes": disk}, options.json)


if __name__ == "__main__":
    main()
