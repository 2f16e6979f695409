"""kill -9 at random moments of a crawl: is anything lost, is anything stored twice?

    python -m benchmarks.crash [--kills 10] [--pages 500] [--seed 1] [--json FILE]

Crawls a demo web (no endless traps) with nothing bounding the crawl, kills the process with SIGKILL
at random numbers of answered requests, starts it again with the same command, and at the end
compares what the server answered with the generator's truth, and what the store holds with the
store of an undisturbed crawl.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from lab.demo import DemoServer, Web, generate

SETTINGS = {
    "TOPICCRAWL_NEWS_FILTER": "0",  # every page counts
    "DOWNLOAD_DELAY": "0",
    "AUTOTHROTTLE_ENABLED": "0",
    "CONCURRENT_REQUESTS_PER_DOMAIN": "4",
    "DOWNLOAD_TIMEOUT": "3",
    "TOPICCRAWL_RETRY_DELAY": "0.2",
    "TOPICCRAWL_TRAPS_ENABLED": "0",
    "TOPICCRAWL_MIN_NORMAL": "0",
}
"""Nothing bounds the crawl: no filter, no trap rule, no budget, minNormal 0."""


class Loss(NamedTuple):
    """Losses of a crawl that was killed.

    Attributes:
        kills: Number of kills.
        pages: Pages that a polite crawler can fetch.
        missing: Those that were never answered.
        articles: Articles and reprints stored.
        unlike: URLs stored in the killed or in the undisturbed crawl, but not in both.
        refetched: Answers beyond one per page.
    """

    kills: int
    pages: int
    missing: tuple[str, ...]
    articles: int
    unlike: tuple[str, ...]
    refetched: int


def trial(folder: Path, web: Web, kills: int, seed: int, seconds: float = 300.0) -> Loss:
    """Return the losses of a crawl that is killed a number of times."""
    undisturbed, killed = folder / "undisturbed", folder / "killed"
    with DemoServer(web) as server:
        _run_to_its_end(web, server.proxy, undisturbed, seconds)
    log = folder / "access.tsv"
    draw = random.Random(seed)  # noqa: S311
    with DemoServer(web, log=log) as server:
        most = max(6, len(web.obtainable) // max(1, kills))
        for _ in range(kills):
            _run(web, server.proxy, killed, seconds, log, draw.randint(5, most))
        _run_to_its_end(web, server.proxy, killed, seconds)
    answered = _answered(log)
    wanted = {truth.url for truth in web.truth.values() if truth.obtainable}
    stored = _stored(killed)
    return Loss(
        kills,
        len(wanted),
        tuple(sorted(wanted - set(answered))),
        len(stored),
        tuple(sorted(stored ^ _stored(undisturbed))),
        sum(n - 1 for url, n in answered.items() if url in wanted),
    )


def _run_to_its_end(web: Web, proxy: str, state: Path, seconds: float) -> None:
    status = _run(web, proxy, state, seconds)
    if status != 0:
        text = state.with_suffix(".log").read_text(errors="replace")[-2000:]
        raise SystemExit(f"a crawl that should have ended well ended with {status}:\n{text}")


def _run(
    web: Web, proxy: str, state: Path, seconds: float, log: Path | None = None, answers: int = 0
) -> int:
    """Crawl; with a log, kill the crawl when it has that many answers more."""
    before = _lines(log)
    with state.with_suffix(".log").open("ab") as output:
        crawl = subprocess.Popen(
            [
                sys.executable, "-m", "scrapy", "crawl", "topic",
                "-a", f"topic={web.topic}", "-a", f"seeds={','.join(web.seeds)}",
                "-s", f"TOPICCRAWL_DATA_DIR={state}",
                *(part for pair in SETTINGS.items() for part in ("-s", "=".join(pair))),
            ],
            env={**os.environ, "http_proxy": proxy, "no_proxy": "",
                 "SCRAPY_SETTINGS_MODULE": "topiccrawl.settings"},
            stdout=output, stderr=output,
        )  # fmt: skip
    end = time.monotonic() + seconds
    while crawl.poll() is None:
        if (log and _lines(log) >= before + answers) or time.monotonic() > end:
            crawl.send_signal(signal.SIGKILL)
            break
        time.sleep(0.01)
    return crawl.wait()


def _lines(log: Path | None) -> int:
    return log.read_bytes().count(b"\n") if log and log.exists() else 0


def _answered(log: Path) -> Counter[str]:
    """Count the responses 200 of each page."""
    lines = (line.split("\t") for line in log.read_text(encoding="utf-8").splitlines())
    return Counter(
        url for _, _, status, _, url in lines if status == "200" and not url.endswith("/robots.txt")
    )


def _stored(state: Path) -> set[str]:
    """URLs of articles and of reprints; two rows of one URL are impossible (unique keys)."""
    with closing(sqlite3.connect(state / "store.sqlite")) as connection:
        rows = connection.execute("SELECT url FROM articles UNION ALL SELECT url FROM reprints")
        urls = [url for (url,) in rows]
    assert len(urls) == len(set(urls)), "a URL is both an article and a reprint"  # noqa: S101
    return set(urls)


def main() -> int:
    """Print what was lost; exit 1 if anything was."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--pages", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    web = generate(options.seed, options.pages, traps=False)
    with tempfile.TemporaryDirectory(prefix="topiccrawl-crash-") as folder:
        loss = trial(Path(folder), web, options.kills, options.seed)
    print(
        f"{loss.kills} kills: {len(loss.missing)} of {loss.pages} pages lost, "
        f"{loss.articles} articles stored, {len(loss.unlike)} of them unlike an undisturbed crawl, "
        f"{loss.refetched} pages fetched again"
    )
    for url in (*loss.missing, *loss.unlike):
        print(url)
    if options.json:
        figures = {
            "kills": loss.kills, "pages": loss.pages, "lost": len(loss.missing),
            "unlike": len(loss.unlike), "refetched": loss.refetched,
        }  # fmt: skip
        options.json.write_text(json.dumps(figures))
    return 1 if loss.missing or loss.unlike else 0


if __name__ == "__main__":
    sys.exit(main())
