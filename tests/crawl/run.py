"""Crawls in sub-processes, as a user starts them."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.waiting import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
MEASURED = "COVERAGE_PROCESS_CONFIG"
"""Environment variable with which coverage also measures sub-processes. Tests remove it for
processes that are killed, and for long crawls whose code other tests cover."""
QUICK = {
    "DOWNLOAD_DELAY": "0",
    "AUTOTHROTTLE_ENABLED": "0",
    "CONCURRENT_REQUESTS_PER_DOMAIN": "8",
    "TOPICCRAWL_RETRY_DELAY": "0.1",
    "AUTOTHROTTLE_MAX_DELAY": "1",
    "LOG_LEVEL": "INFO",
    "TOPICCRAWL_READERS": "0",  # each takes 0.4 s to start; tests of readers set it
    "SPIDER_MODULES": "topiccrawl.spiders,topiccrawl.addons.records.spider,"
    "topiccrawl.addons.tasks.spider,tests.crawl.trials",
}


def command(data: Path, *arguments: str, **settings: str) -> list[str]:
    """Return the command line of a fast topic crawl with its state in ``data``."""
    merged = {**QUICK, "TOPICCRAWL_DATA_DIR": str(data), **settings}
    options = [part for name, value in merged.items() for part in ("-s", f"{name}={value}")]
    return [sys.executable, "-m", "scrapy", *arguments, *options]


def log_of(data: Path) -> Path:
    """Return the log file of the crawls on ``data``."""
    return data.with_suffix(".log")


def start(proxy: str, data: Path, *arguments: str, **settings: str) -> subprocess.Popen[bytes]:
    """Start a command, which the caller ends; append its output to ``log_of(data)``."""
    environment = {**os.environ, "http_proxy": proxy, "https_proxy": proxy, "no_proxy": ""}
    with log_of(data).open("ab") as log:
        return subprocess.Popen(
            command(data, *arguments, **settings),
            cwd=ROOT,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
        )


@contextmanager
def running(
    proxy: str, data: Path, *arguments: str, **settings: str
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command during the block; kill it at the end if it is still running."""
    with start(proxy, data, *arguments, **settings) as process:
        try:
            yield process
        finally:
            process.kill()


def exit_status(process: subprocess.Popen[bytes], data: Path) -> int:
    """Wait for a command to end and return its exit status.

    Raises:
        AssertionError: It did not end in time; the message has its output.
    """
    try:
        return process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        text = log_of(data).read_text(errors="replace")[-3000:]
        raise AssertionError(f"still running after {PATIENCE} s:\n{text}") from None


def run(proxy: str, data: Path, *arguments: str, **settings: str) -> tuple[int, str]:
    """Run a command to its end; return its exit status and output."""
    before = log_of(data).stat().st_size if log_of(data).exists() else 0
    with running(proxy, data, *arguments, **settings) as process:
        status = exit_status(process, data)
    return status, log_of(data).read_bytes()[before:].decode(errors="replace")


def stored(data: Path) -> list[str]:
    """Return the URLs of stored articles and reprints: test pages are similar to each other."""
    query = "SELECT url FROM articles UNION ALL SELECT url FROM reprints ORDER BY url"
    with closing(sqlite3.connect(data / "store.sqlite")) as connection:
        return [url for (url,) in connection.execute(query)]
