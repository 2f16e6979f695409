"""A long crawl, watched: does the memory or the number of descriptors grow without end?

    python -m benchmarks.soak [--pages 50000] [--plain] [--json FILE]

Crawls an endless web (``benchmarks.crawl``'s, with faults: errors and slow answers) with articles,
watched pages, a WARC archive and a reader of the dashboard (``--plain``: the crawl alone), and
samples the process each second: anonymous memory (RssAnon) and descriptors. Exit status 1 if
in the second half of the pages the memory grew by more than 10 % and 110 bytes a new URL, the
descriptors by more than a few, or the log has an error.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.crawl import SEEDS, TERMS, Endless
from lab.demo import DemoServer
from tests.ports import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

GROWTH, URL_BYTES = 0.10, 110
"""Bounds of the second half: share of the memory, and bytes for each new URL besides."""
DESCRIPTORS = 8
"""Most descriptors more in the second half."""
ERRORS = re.compile(r"\] (?:ERROR|CRITICAL): .*")
SETTINGS = {
    "DOWNLOAD_DELAY": "0", "AUTOTHROTTLE_ENABLED": "0", "CONCURRENT_REQUESTS_PER_DOMAIN": "4",
    "TOPICCRAWL_RETRY_DELAY": "1", "LOG_LEVEL": "INFO",
}  # fmt: skip


class Sample(NamedTuple):
    """State of the process at one moment."""

    seconds: float
    answers: int
    anonymous: int
    descriptors: int


class Soak(NamedTuple):
    """Growth in the second half.

    Attributes:
        pages: Answered requests.
        anonymous: Median memory of the second and the last quarter, bytes.
        allowed: The most that the last may have.
        descriptors: Medians of the same.
        errors: Lines of the log.
    """

    pages: int
    anonymous: tuple[float, float]
    allowed: float
    descriptors: tuple[float, float]
    errors: list[str]

    @property
    def holds(self) -> bool:
        """Whether nothing grows."""
        level = self.descriptors[1] <= self.descriptors[0] + DESCRIPTORS
        return self.anonymous[1] <= self.allowed and level and not self.errors


def judged(samples: list[Sample], known: int, log: str) -> Soak:
    """Return the growth between the second and the last quarter of the pages.

    Args:
        samples: In order.
        known: URLs known in the end.
        log: Of the crawl.
    """
    pages = samples[-1].answers
    parts = [
        [one for one in samples if low * pages < one.answers <= high * pages]
        for low, high in ((0.25, 0.5), (0.75, 1.0))
    ]
    memory, files = (
        tuple(median(getattr(one, name) for one in part) for part in parts)
        for name in ("anonymous", "descriptors")
    )
    new = known / 2  # the web is the same everywhere: half of the URLs come in half of the pages
    allowed = (1 + GROWTH) * memory[0] + URL_BYTES * new
    return Soak(pages, (memory[0], memory[1]), allowed, (files[0], files[1]), ERRORS.findall(log))


def samples(process: subprocess.Popen[bytes], server: DemoServer) -> Iterator[Sample]:
    """Yield the state of a process once a second until it ends."""
    answered: list[int] = []
    server.answered = lambda _: answered.append(1)
    folder, began = Path(f"/proc/{process.pid}"), time.monotonic()
    while process.poll() is None:
        try:
            found = re.search(r"RssAnon:\s+(\d+)", (folder / "status").read_text())
            files = len(os.listdir(folder / "fd"))  # noqa: PTH208 - names are enough
        except OSError:  # it has just ended
            return
        if found:
            yield Sample(time.monotonic() - began, len(answered), 1024 * int(found[1]), files)
        time.sleep(1.0)


def read_pages(url: str, token: str, ended: threading.Event) -> None:
    """Read the dashboard of the crawl again and again."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    opener.addheaders = [("Authorization", f"Bearer {token}")]
    while not ended.wait(2.0):
        for path in ("/api/state", "/api/articles", "/api/more", "/metrics"):
            try:
                opener.open(f"{url}{path}", timeout=30).read()
            except OSError:  # not yet there, or ended
                break


def soak(pages: int, *, plain: bool) -> Soak:
    """Crawl so many pages, and judge the growth."""
    port, token, ended = free_port(), "soak-only", threading.Event()
    settings = {**SETTINGS, "TOPICCRAWL_PAGES": str(pages)}
    arguments = ["-a", f"topic={' '.join([*TERMS][:3])}", "-a", f"seeds={','.join(SEEDS)}"]
    if not plain:
        settings |= {"TOPICCRAWL_ADAPTATION": "words", "TOPICCRAWL_DASHBOARD": str(port)}
        arguments += ["-a", "watch=1"]
    with tempfile.TemporaryDirectory(prefix="topiccrawl-soak-") as name:
        folder = Path(name)
        settings["TOPICCRAWL_DATA_DIR"] = str(folder / "data")
        settings["WARC_DIR"] = "" if plain else str(folder / "warc")
        given = [part for pair in settings.items() for part in ("-s", "=".join(pair))]
        with DemoServer(Endless(), error_rate=0.01, latency=0.002) as server:
            environment = {**os.environ, "http_proxy": server.proxy, "no_proxy": "",
                           "SCRAPY_SETTINGS_MODULE": "topiccrawl.settings",
                           "TOPICCRAWL_DASHBOARD_TOKEN": token}  # fmt: skip
            with (folder / "log").open("wb") as log:
                process = subprocess.Popen(
                    [sys.executable, "-m", "scrapy", "crawl", "topic", *arguments, *given],
                    env=environment, stdout=log, stderr=log,
                )  # fmt: skip
                reading = threading.Thread(
                    target=read_pages, args=(f"http://127.0.0.1:{port}", token, ended), daemon=True
                )
                reading.start()
                taken = list(samples(process, server))
                ended.set()
                reading.join()
        text = (folder / "log").read_text("utf-8", "replace")
    known = re.search(r"'topiccrawl/queue/known': (\d+)", text)
    if process.returncode or known is None or len(taken) < 20:  # noqa: PLR2004 - quarters
        sys.exit(f"the crawl ended with {process.returncode}, {len(taken)} samples: {text[-3000:]}")
    return judged(taken, int(known[1]), text)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=50_000)
    parser.add_argument("--plain", action="store_true", help="the crawl alone")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found = soak(options.pages, plain=options.plain)
    print(
        f"{found.pages} answers: RssAnon {found.anonymous[0] / 1e6:.0f} -> "
        f"{found.anonymous[1] / 1e6:.0f} MB (at most {found.allowed / 1e6:.0f}), descriptors "
        f"{found.descriptors[0]:.0f} -> {found.descriptors[1]:.0f}, {len(found.errors)} errors"
    )
    for line in found.errors[:9]:
        print("   ", line)
    if options.json:
        options.json.write_text(json.dumps(found._asdict()), "utf-8")
    sys.exit(not found.holds)


if __name__ == "__main__":
    main()
