"""Three nodes, one killed: a short run of ``benchmarks.nodes``."""

from __future__ import annotations

import signal
import sqlite3
import time
from collections import defaultdict
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from typing_extensions import override

from benchmarks.nodes_outage import RedisAway
from benchmarks.nodes_trial import SETTINGS, EvenWeb, Trial, web_of
from tests.crawl.run import run

if TYPE_CHECKING:
    from pathlib import Path


PART = 10
"""Answers of a node that has work."""


class OneKilled(Trial):
    """A third of the web fetched, a node that has work is killed for good."""

    @override
    def _trouble(self, *_: object) -> None:
        self._until(len(self.web.obtainable) // 3, float("inf"))
        while self.nodes[1].answers() < PART and self.nodes[1].running():
            time.sleep(0.02)
        self.nodes[1].signal(signal.SIGKILL)
        self.events.append("kill 1")


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.crawl
@pytest.mark.slow
def test_redis_may_go_away_for_a_while(tmp_path: Path) -> None:
    settings = {**SETTINGS, "DOWNLOAD_DELAY": "0.05", "TOPICCRAWL_NODE_SECONDS": "2"}
    trial = RedisAway(tmp_path, web_of(3, 320), 2, 4.5, 3.0, settings=settings)
    report = trial.run()
    assert trial.during == 0, "the crawl pauses"
    assert report.missing == ()
    assert report.refetched == 0
    assert report.shared == ()
    for node in trial.nodes:
        log = node.output.read_text()
        assert "the crawl pauses" in log
        assert "the crawl continues" in log
        assert "Redis does not respond\n" in log, "why nothing is fetched"


class Stopped(Trial):
    """A node is stopped and woken again and again."""

    @override
    def _trouble(self, *_: object) -> None:
        self._until(20, float("inf"))
        for pause in (0.45, 0.65, 0.5, 0.75, 0.6):
            time.sleep(pause)
            self.nodes[0].signal(signal.SIGSTOP)
            time.sleep(0.4)
            self.nodes[0].signal(signal.SIGCONT)


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.crawl
@pytest.mark.slow
def test_a_node_that_wakes_asks_no_host_too_soon(tmp_path: Path, redis_url: str) -> None:
    report = Stopped(tmp_path, EvenWeb(40, 8), redis_url, 1).run()
    assert report.missing == ()
    assert report.refetched == 0
    assert report.hasty == ()


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.crawl
@pytest.mark.slow
def test_two_topics_on_one_server_are_at_a_host_in_turn(tmp_path: Path, redis_url: str) -> None:
    trial = Trial(tmp_path, EvenWeb(2, 8), redis_url, 2)
    trial.nodes[1].web = EvenWeb(2, 8, topic="足球")
    report = trial.run()
    assert report.missing == ()
    assert report.split == (16, 16), "each topic has a crawl of its own"
    assert report.shared == ()
    assert report.hasty == ()


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.crawl
@pytest.mark.slow
def test_three_nodes_one_killed_fetch_every_page_and_no_host_is_at_two(
    tmp_path: Path, redis_url: str
) -> None:
    settings = {**SETTINGS, "DOWNLOAD_DELAY": "0.05"}
    report = OneKilled(tmp_path, web_of(3, 320), redis_url, 3, settings=settings).run()
    assert report.missing == ()
    assert report.shared == ()
    assert all(report.split), "all had a part"
    stories = defaultdict(set)
    for number in range(3):
        with closing(sqlite3.connect(tmp_path / f"data-{number}" / "store.sqlite")) as store:
            for digest, url in store.execute("SELECT digest, url FROM articles"):
                stories[digest].add(url)
    assert len(stories) > 20
    assert {digest for digest, urls in stories.items() if digest and len(urls) > 1} == set()
    assert report.refetched <= 40  # what the killed one had in flight, or not yet sent


@pytest.mark.crawl
@pytest.mark.slow
def test_a_server_that_cannot_be_reached_is_an_error(tmp_path: Path) -> None:
    url = "redis://:secret@127.0.0.1:9/0"
    status, log = run("http://127.0.0.1:9", tmp_path / "data", "crawl", "topic", "-a", "topic=甲",
                      "-a", "seeds=http://a.test/", REDIS_URL=url)  # fmt: skip
    assert status == 1
    assert "redis://127.0.0.1:9/0: Redis failed" in log
    assert "Traceback" not in log
    assert "secret" not in log
