"""Three nodes, one killed: a short run of ``benchmarks.nodes``."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest
from typing_extensions import override

from benchmarks.nodes import SETTINGS, Trial, web_of

if TYPE_CHECKING:
    from pathlib import Path


class OneKilled(Trial):
    """A third of the web fetched, a node is killed for good."""

    @override
    def _trouble(self, *_: object) -> None:
        self._until(len(self.web.obtainable) // 3, float("inf"))
        self.nodes[1].signal(signal.SIGKILL)
        self.events.append("kill 1")


@pytest.mark.crawl
def test_three_nodes_one_killed_fetch_every_page_and_no_host_is_at_two(
    tmp_path: Path, redis_url: str
) -> None:
    settings = {**SETTINGS, "DOWNLOAD_DELAY": "0.2"}
    report = OneKilled(tmp_path, web_of(3, 320), redis_url, 3, settings=settings).run()
    assert report.missing == ()
    assert report.shared == ()
    assert all(report.split), "all had a part"
    assert report.refetched <= 40  # what the killed one had in flight, or not yet sent
