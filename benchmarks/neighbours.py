"""Share of a healthy site when other hosts misbehave.

    python -m benchmarks.neighbours [--runs 3] [--pages 60] [--silent 40] [--delay 1] [--json FILE]

Crawls a healthy site with the default politeness alone, then beside all hosts of ``tests/hostile``,
then beside hosts of as many domains that accept connections and never answer, in turn. All start
from seeds, so that all pages have the same value. A site's share is what it gets alone: its
requests a second, from the first page to the last. Figures are medians; exit status 1 if a share is
below 0.9. If other processes use the machine, multiply the delay by the number of processes to a
core: a site cannot be asked once a second by a process that gets a fifth of a second of processor
time in it.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from typing_extensions import override

from benchmarks.output import command_line, show
from benchmarks.processes import start
from tests.crawl.web import article
from tests.hostile.acts import TEXT
from tests.hostile.cases import CASES
from tests.hostile.strange import STRANGE
from tests.hostile.web import Case, Hostile

if TYPE_CHECKING:
    import socket
    import subprocess

MIN_SHARE = 0.9
"""Minimum share of the healthy site's speed."""
SECONDS = 900.0
"""Maximum duration of a crawl in seconds."""
FRONT = "http://good.test/"


class Timed(Hostile):
    """The hostile server with the times of requests for the healthy site's pages."""

    def __init__(self, cases: tuple[Case, ...], pages: dict[str, str]) -> None:
        super().__init__(cases, pages)
        self.times: list[float] = []

    @override
    def serve(self, connection: socket.socket, url: str) -> None:
        if url in self.pages:
            self.times.append(time.monotonic())
        super().serve(connection, url)


def rate(cases: tuple[Case, ...], pages: int, delay: float) -> float:
    """Return the healthy site's requests a second beside some hosts.

    Raises:
        SystemExit: Some of its pages were not requested.
    """
    urls = [f"{FRONT}{number}" for number in range(pages)]
    web = {url: article(f"新能源汽车要闻第{n}篇", f"{TEXT}{n}。") for n, url in enumerate(urls)}
    with Timed(cases, web) as server, tempfile.TemporaryDirectory() as folder:
        seeds = ",".join([*urls, *(case.url for case in cases)])
        crawl = _started(folder, server.proxy, seeds, delay)
        end = time.monotonic() + SECONDS
        while len(server.times) < pages and time.monotonic() < end and crawl.poll() is None:
            time.sleep(0.1)
        crawl.kill()
        crawl.wait()
        times = server.times[:pages]
        if len(times) < pages:
            log = Path(folder, "log").read_text("utf-8", "replace")[-2000:]
            sys.exit(f"{len(times)} of {pages} pages were asked:\n{log}")
    return (pages - 1) / (times[-1] - times[0])


def _started(folder: str, proxy: str, seeds: str, delay: float) -> subprocess.Popen[bytes]:
    settings = {"TOPICCRAWL_DATA_DIR": f"{folder}/data", "DOWNLOAD_DELAY_JITTER": 0,
                "DOWNLOAD_DELAY": f"{delay:g}"}  # fmt: skip
    line = ["crawl", "topic", "-a", "topic=新能源汽车", "-a", f"seeds={seeds}"]
    return start(line, settings, proxy, Path(folder, "log"))


def main() -> int:
    """Print the shares; exit 1 if one is too small."""
    parser = command_line(__doc__, runs=3, pages=60, silent=40, delay=1.0)
    options = parser.parse_args()
    silent = tuple(
        Case(
            f"silent{number}", "never answers", lambda c: c.silence(), (), 1, lambda c: c.silence()
        )
        for number in range(options.silent)
    )
    beside = {"hostile": (*CASES, *STRANGE), "silent": silent}
    shares: dict[str, list[float]] = {name: [] for name in beside}
    for _ in range(options.runs):
        alone = rate((), options.pages, options.delay)
        for name, cases in beside.items():
            shares[name].append(rate(cases, options.pages, options.delay) / alone)
            print(f"{name}: {shares[name][-1]:.3f} of {alone:.3f} pages a second", flush=True)
    found = {f"share_{name}": median(values) for name, values in shares.items()}
    show(found, options.json)
    return 1 if min(found.values()) < MIN_SHARE else 0


if __name__ == "__main__":
    sys.exit(main())
