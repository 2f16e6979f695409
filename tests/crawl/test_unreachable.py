"""Pages of unreachable hosts end with the cause as their reason."""

from __future__ import annotations

import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.crawl.run import run
from tests.crawl.web import Answer, Web
from topiccrawl.scheduler.frontiers import read_frontier

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.crawl


@contextmanager
def bound(address: str, *, listens: bool) -> Iterator[int]:
    """A port that refuses connections, or takes them and never answers."""
    with socket.socket() as server:
        server.bind((address, 0))
        if listens:
            server.listen()
        yield server.getsockname()[1]


@pytest.mark.slow
def test_the_cause_is_kept_through_retries_and_reported(tmp_path: Path) -> None:
    with (
        Web({"/robots.txt": Answer("", 503)}) as web,
        bound("127.0.0.2", listens=False) as closed,
        bound("127.0.0.3", listens=True) as silent,
    ):
        port = web.proxy.rpartition(":")[2]
        wanted = {
            "http://no-such-host.invalid/": "cannot-resolve-host",
            f"http://127.0.0.2:{closed}/": "download-connection-refused",
            f"http://127.0.0.3:{silent}/": "download-timeout",
            f"https://127.0.0.1:{port}/": "tls-failed",
            f"http://localhost:{port}/": "robots-unavailable",
        }
        crawl = ("crawl", "topic", "-a", "topic=足球", "-a", "seeds=" + ",".join(wanted))
        data = tmp_path / "data"
        _, out = run("", data, *crawl, RETRY_TIMES="1", DOWNLOAD_TIMEOUT="2")
        (folder,) = (data / "frontiers").iterdir()
        frontier = read_frontier(folder)
        reports = {url: frontier.why(url) for url in wanted}
        assert {url: one and one.reason for url, one in reports.items()} == wanted, out[-3000:]
        counts = frontier.counts()
        assert [counts[f"error/{reason}"] for reason in wanted.values()] == [1] * len(wanted)
        _, out = run("", data, "why", "http://no-such-host.invalid/")
        assert "errorQueue (cannot-resolve-host)" in out
