"""Soak test: growth of memory and of file descriptors in a long crawl.

    python -m benchmarks.soak [--pages 50000] [--minutes 60] [--nodes 2] [--plain] [--json FILE]

Crawls an endless web (``benchmarks.crawl``'s) with faults (errors, slow, cut and missing answers,
hosts that never answer, bombs, names without end), with articles, watched pages, a WARC archive,
processes that read pages, and a reader of the dashboard (``--plain``: the crawl alone); with
``--nodes`` by several processes that share a Redis; it ends after ``--minutes`` at the latest. Each
second it samples anonymous memory (RssAnon) and descriptors of the processes, added up. Exit status
1 if in the second half of the pages the memory grew by more than 10 % and 110 bytes a new URL, the
descriptors by more than a few, or a log has an error.
"""

from __future__ import annotations

import gzip
import os
import random
import re
import sys
import tempfile
import threading
import time
import urllib.request
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from typing_extensions import override

from benchmarks.crawl import HTML, SEEDS, TERMS, Endless
from benchmarks.frontier import anonymous_bytes
from benchmarks.output import command_line, show
from benchmarks.processes import start
from lab.demo import DemoServer
from lab.demo.answers import Answer
from tests.ports import free_port
from tests.redis_server import running

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator

GROWTH, URL_BYTES = 0.10, 110
"""Limits of growth in the second half: share of the memory, and bytes for each new URL."""
DESCRIPTORS = 8
"""Maximum number of additional descriptors in the second half."""
ERRORS = re.compile(r"\] (?:ERROR|CRITICAL): .*")
SETTINGS = {
    "DOWNLOAD_DELAY": "0", "AUTOTHROTTLE_ENABLED": "0", "CONCURRENT_REQUESTS_PER_DOMAIN": "4",
    "TOPICCRAWL_RETRY_DELAY": "1", "LOG_LEVEL": "INFO", "DOWNLOAD_TIMEOUT": "10",
}  # fmt: skip
BAD = [f"http://{kind}.bad.test/" for kind in ("hang", "drop", "bomb", "names")]
"""Seeds of hosts that misbehave."""
_BOMB = gzip.compress(b"0" * 50_000_000)


class Faulty(Endless):
    """The endless web with faults: cut and missing answers, unique texts, and bad hosts."""

    @override
    def answer(self, url: str, visit: int = 0, cookie: str = "") -> Answer:
        """The page of a URL; the same faults for each visit."""
        host = url.split("/")[2]
        if host.endswith("bad.test") and not url.endswith("/robots.txt"):
            return _bad(host, url)
        page, share = super().answer(url, visit, cookie), random.Random(f"x{url}").random()  # noqa: S311
        if share < 0.02:  # noqa: PLR2004 - shares
            return page._replace(cut="half" if share < 0.01 else "drop")  # noqa: PLR2004
        if share < 0.04:  # noqa: PLR2004
            return Answer(404)
        text = f"</h2><p>{url}新能源汽车{share}动力电池{url}充电桩{share}</p>" * 20
        own = share < 0.2  # noqa: PLR2004 - others are reprints of a few
        return page._replace(body=page.body.replace(b"</h2>", text.encode(), 1)) if own else page


def _bad(host: str, url: str) -> Answer:
    if host.startswith(("hang", "drop")):
        return Answer(0, cut=host.partition(".")[0])
    if host.startswith("bomb"):
        return Answer(200, (*HTML, ("Content-Encoding", "gzip")), _BOMB)
    links = "".join(
        f'<a href="http://{n}{len(url)}.{host[-60:]}/">新能源汽车</a>' for n in range(9)
    )
    return Answer(200, HTML, f"<title>新能源汽车</title>{links}".encode())


class Sample(NamedTuple):
    """State of the process at one moment."""

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
        """True if nothing grows."""
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


def samples(processes: list[subprocess.Popen[bytes]], server: DemoServer) -> Iterator[Sample]:
    """Yield the state of processes once a second until the first one ends."""
    answered: list[int] = []
    server.answered = lambda _: answered.append(1)
    while all(process.poll() is None for process in processes):
        try:
            states = [
                (anonymous_bytes(one.pid), len(os.listdir(f"/proc/{one.pid}/fd")))  # noqa: PTH208
                for one in processes
            ]
        except OSError:  # one has just ended
            return
        anonymous, files = map(sum, zip(*states, strict=True))
        if anonymous:
            yield Sample(len(answered), anonymous, files)
        time.sleep(1.0)


def read_pages(url: str, token: str, ended: threading.Event) -> None:
    """Read the dashboard of the crawl repeatedly."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    opener.addheaders = [("Authorization", f"Bearer {token}")]
    while not ended.wait(2.0):
        for path in ("/api/state", "/api/articles", "/api/more", "/metrics"):
            try:
                opener.open(f"{url}{path}", timeout=30).read()
            except OSError:  # not yet there, or ended
                break


def soak(pages: int, nodes: int, minutes: float = 0, *, plain: bool) -> Soak:
    """Crawl so many pages, for at most so many minutes, and judge the growth."""
    token, ended = "soak-only", threading.Event()
    shared = {"TOPICCRAWL_PAGES": str(pages // nodes), "TOPICCRAWL_DASHBOARD_TOKEN": token,
              "CLOSESPIDER_TIMEOUT": str(60 * minutes)}  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="topiccrawl-soak-") as name, ExitStack() as stack:
        if nodes > 1:
            shared["REDIS_URL"] = stack.enter_context(running())
        web = DemoServer(Faulty(), error_rate=0.01, latency=0.002)
        server = stack.enter_context(web)
        processes, readers = [], []
        for number in range(nodes):
            port, folder = free_port(), Path(name, str(number))
            folder.mkdir()
            processes.append(_started(folder, server.proxy, shared, 0 if plain else port))
            reader = (f"http://127.0.0.1:{port}", token, ended)
            readers.append(threading.Thread(target=read_pages, args=reader, daemon=True))
            readers[-1].start()
        taken = list(samples(processes, server))
        statuses = [process.wait() for process in processes]
        ended.set()
        logs = [(Path(name, str(n)) / "log").read_text("utf-8", "replace") for n in range(nodes)]
    found = [re.search(r"'topiccrawl/queue/known': (\d+)", log) for log in logs]
    known = sum(int(one[1]) for one in found if one)
    if any(statuses) or not all(found) or len(taken) < 20:  # noqa: PLR2004 - quarters
        ends = "\n".join(log[-3000:] for log in logs)
        sys.exit(f"the crawl ended with {statuses}, {len(taken)} samples: {ends}")
    return judged(taken, known, "\n".join(logs))


def _started(
    folder: Path, proxy: str, shared: dict[str, str], port: int
) -> subprocess.Popen[bytes]:
    """Start a crawl; with the dashboard at a port everything is on."""
    settings: dict[str, object] = {**SETTINGS, **shared, "TOPICCRAWL_DATA_DIR": folder / "data"}
    seeds = ",".join([*SEEDS, *BAD])
    arguments = ["-a", f"topic={' '.join([*TERMS][:3])}", "-a", f"seeds={seeds}"]
    if port:
        settings |= {"TOPICCRAWL_ADAPTATION": "words", "TOPICCRAWL_DASHBOARD": str(port),
                     "WARC_DIR": folder / "warc"}  # fmt: skip
        arguments += ["-a", "watch=1"]
    return start(["crawl", "topic", *arguments], settings, proxy, folder / "log")


def main() -> None:
    """Run the command line."""
    parser = command_line(__doc__, pages=50_000, minutes=0.0, nodes=1)
    parser.add_argument("--plain", action="store_true", help="the crawl alone")
    options = parser.parse_args()
    found = soak(options.pages, options.nodes, options.minutes, plain=options.plain)
    line = (
        f"{found.pages} answers: RssAnon {found.anonymous[0] / 1e6:.0f} -> "
        f"{found.anonymous[1] / 1e6:.0f} MB (at most {found.allowed / 1e6:.0f}), descriptors "
        f"{found.descriptors[0]:.0f} -> {found.descriptors[1]:.0f}, {len(found.errors)} errors"
    )
    show(found._asdict(), options.json, "\n    ".join([line, *found.errors[:9]]))
    sys.exit(not found.holds)


if __name__ == "__main__":
    main()
