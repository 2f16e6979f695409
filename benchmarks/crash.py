"""Crash test: kill a crawl at random times and check for lost and duplicate data.

    python -m benchmarks.crash [--kills 10] [--pages 500] [--seed 1] [--json FILE]

Crawls a demo web (no endless traps) without limits, kills the process with SIGKILL
at random numbers of answered requests, starts it again with the same command, and at the end
compares the responses of the server with the ground truth, and the store with that of an
undisturbed crawl.
"""

from __future__ import annotations

import random
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.output import command_line, show
from benchmarks.processes import start, topic_crawl
from lab.demo import DemoServer, Web, generate
from lab.demo.judge import read_log

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping

SETTINGS = {
    "TOPICCRAWL_NEWS_FILTER": "0",  # every page counts
    "TOPICCRAWL_SITE_WORDS": "0",  # a page is judged alike in any order of pages
    "TOPICCRAWL_LINK_RELEVANCE": "0",
    "DOWNLOAD_DELAY": "0",
    "AUTOTHROTTLE_ENABLED": "0",
    "CONCURRENT_REQUESTS_PER_DOMAIN": "4",
    "DOWNLOAD_TIMEOUT": "3",
    "TOPICCRAWL_RETRY_DELAY": "0.2",
    "TOPICCRAWL_TRAPS_ENABLED": "0",
    "TOPICCRAWL_MIN_NORMAL": "0",
}
"""Settings without limits: no filter, no trap rule, no budget, minNormal 0."""


class Loss(NamedTuple):
    """Losses of a crawl that was killed.

    Attributes:
        kills: Number of kills.
        pages: Number of pages that a polite crawler can fetch.
        missing: Pages without a response.
        articles: Number of stored articles and reprints.
        unlike: URLs stored in the killed or in the undisturbed crawl, but not in both.
        refetched: Number of responses beyond one per page.
    """

    kills: int
    pages: int
    missing: tuple[str, ...]
    articles: int
    unlike: tuple[str, ...]
    refetched: int

    def line(self, what: str) -> str:
        """Return the figures as text; ``what`` was killed."""
        return (
            f"{self.kills} kills {what}: {len(self.missing)} of {self.pages} pages lost, "
            f"{self.articles} articles stored, {len(self.unlike)} of them unlike an undisturbed "
            f"crawl, {self.refetched} pages fetched again"
        )

    def figures(self) -> dict[str, int]:
        """Return the figures by name."""
        return {
            "kills": self.kills, "pages": self.pages, "lost": len(self.missing),
            "unlike": len(self.unlike), "refetched": self.refetched,
        }  # fmt: skip


def loss(web: Web, kills: int, log: Path, found: set[str], undisturbed: set[str]) -> Loss:
    """Return the losses from the server's log and the stores of two crawls."""
    answered = _answered(log)
    wanted = {truth.url for truth in web.truth.values() if truth.obtainable}
    missing = tuple(sorted(wanted - set(answered)))
    again = sum(n - 1 for url, n in answered.items() if url in wanted)
    unlike = tuple(sorted(found ^ undisturbed))
    return Loss(kills, len(wanted), missing, len(found), unlike, again)


def trial(folder: Path, web: Web, kills: int, seed: int, seconds: float = 1800.0) -> Loss:
    """Return the losses of a crawl that is killed a number of times."""
    undisturbed, killed = folder / "undisturbed", folder / "killed"
    with DemoServer(web) as server:
        finish(begin(web, server.proxy, undisturbed), undisturbed, seconds)
    log = folder / "access.tsv"
    draw = random.Random(seed)  # noqa: S311
    with DemoServer(web, log=log) as server:
        most = max(6, len(web.obtainable) // max(1, kills))
        for _ in range(kills):
            end = time.monotonic() + seconds
            answers = lines(log) + draw.randint(5, most)
            crawl = begin(web, server.proxy, killed)
            while crawl.poll() is None and lines(log) < answers and time.monotonic() < end:
                time.sleep(0.01)
            crawl.kill()
            crawl.wait()
        finish(begin(web, server.proxy, killed), killed, seconds)
    return loss(web, kills, log, stored(killed), stored(undisturbed))


def begin(
    web: Web, proxy: str, state: Path, more: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """Start a crawl of a web with ``SETTINGS`` and more settings."""
    settings = {**SETTINGS, **(more or {}), "TOPICCRAWL_DATA_DIR": state}
    return start(topic_crawl(web), settings, proxy, state.with_suffix(".log"))


def finish(crawl: subprocess.Popen[bytes], state: Path, seconds: float) -> None:
    """Wait for the end of a crawl.

    Raises:
        SystemExit: It ended with an error; with the end of its log.
    """
    try:
        status = crawl.wait(seconds)
    finally:
        crawl.kill()
    if status:
        text = state.with_suffix(".log").read_text(errors="replace")[-3000:]
        raise SystemExit(f"a crawl ended with {status}:\n{text}")


def lines(log: Path) -> int:
    """Return the number of lines of a log, 0 if there is none."""
    return log.read_bytes().count(b"\n") if log.exists() else 0


def _answered(log: Path) -> Counter[str]:
    """Count the responses 200 of each page."""
    good = (one.url for one in read_log(log) if one.status == 200)  # noqa: PLR2004
    return Counter(url for url in good if not url.endswith("/robots.txt"))


def stored(state: Path) -> set[str]:
    """Return URLs of articles and of reprints; two rows of one URL are impossible (unique keys)."""
    with closing(sqlite3.connect(state / "store.sqlite")) as connection:
        rows = connection.execute("SELECT url FROM articles UNION ALL SELECT url FROM reprints")
        urls = [url for (url,) in rows]
    assert len(urls) == len(set(urls)), "a URL is both an article and a reprint"  # noqa: S101
    return set(urls)


def report(found: Loss, what: str, file: Path | None) -> int:
    """Print what was lost, and write it to a file; return 1 if anything was."""
    show(found.figures(), file, "\n".join([found.line(what), *found.missing, *found.unlike]))
    return 1 if found.missing or found.unlike else 0


def main() -> int:
    """Print what was lost; exit 1 if anything was."""
    given = command_line(__doc__, kills=10, pages=500, seed=1).parse_args()
    web = generate(given.seed, given.pages, traps=False)
    with tempfile.TemporaryDirectory(prefix="topiccrawl-crash-") as folder:
        found = trial(Path(folder), web, given.kills, given.seed)
    return report(found, "of the crawl", given.json)


if __name__ == "__main__":
    sys.exit(main())
