"""Crawls by several nodes with faults: short runs of ``benchmarks.nodes``."""

from __future__ import annotations

import signal
import sqlite3
import time
from collections import defaultdict
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
import redis
from typing_extensions import override

from benchmarks.nodes_outage import RedisOutage
from benchmarks.nodes_trial import SETTINGS, EvenWeb, Trial, web_of
from tests.crawl.run import run

if TYPE_CHECKING:
    from pathlib import Path


MIN_ANSWERS = 10
"""Answers after which a node counts as working."""


class KilledNodeTrial(Trial):
    """Kills a working node after a third of the web is fetched."""

    @override
    def _trouble(self, *_: object) -> None:
        self._until(len(self.web.obtainable) // 3, float("inf"))
        while self.nodes[1].answers() < MIN_ANSWERS and self.nodes[1].running():
            time.sleep(0.02)
        self.nodes[1].signal(signal.SIGKILL)
        self.events.append("kill 1")


@pytest.mark.usefixtures("no_coverage")
@pytest.mark.crawl
@pytest.mark.slow
def test_crawl_pauses_while_redis_is_unavailable(tmp_path: Path) -> None:
    settings = {**SETTINGS, "DOWNLOAD_DELAY": "0.05", "TOPICCRAWL_NODE_SECONDS": "2"}
    trial = RedisOutage(tmp_path, web_of(3, 320), 2, 4.5, 3.0, settings=settings)
    report = trial.run()
    assert trial.during == 0, "the crawl pauses"
    assert report.missing == ()
    assert report.refetched == 0
    assert report.shared == ()
    for node in trial.nodes:
        log = node.output.read_text()
        assert "the crawl pauses" in log
        assert "the crawl continues" in log
        assert "Redis does not respond\n" in log, "the log has the reason"


class SuspendedNodeTrial(Trial):
    """Suspends and resumes a node repeatedly."""

    @override
    def _trouble(self, *_: object) -> None:
        self._until(20, float("inf"))
        for pause in (0.45, 0.65, 0.5, 0.75, 0.6):
            time.sleep(pause)
            self.nodes[0].signal(signal.SIGSTOP)
            time.sleep(0.4)
            self.nodes[0].signal(signal.SIGCONT)


@pytest.mark.usefixtures("no_coverage")
@pytest.mark.crawl
@pytest.mark.slow
def test_resumed_node_obeys_host_delays(tmp_path: Path, redis_url: str) -> None:
    report = SuspendedNodeTrial(tmp_path, EvenWeb(40, 8), redis_url, 1).run()
    assert report.missing == ()
    assert report.refetched == 0
    assert report.hasty == ()


@pytest.mark.usefixtures("no_coverage")
@pytest.mark.crawl
@pytest.mark.slow
def test_two_topics_on_one_server_take_turns_at_a_host(tmp_path: Path, redis_url: str) -> None:
    trial = Trial(tmp_path, EvenWeb(2, 8), redis_url, 2)
    trial.nodes[1].web = EvenWeb(2, 8, topic="足球")
    report = trial.run()
    assert report.missing == ()
    assert report.split == (16, 16), "each topic has a separate crawl"
    assert report.shared == ()
    assert report.hasty == ()


@pytest.mark.usefixtures("no_coverage")
@pytest.mark.crawl
@pytest.mark.slow
def test_three_nodes_with_one_killed_fetch_every_page(tmp_path: Path, redis_url: str) -> None:
    settings = {**SETTINGS, "DOWNLOAD_DELAY": "0.05"}
    report = KilledNodeTrial(tmp_path, web_of(3, 320), redis_url, 3, settings=settings).run()
    assert report.missing == ()
    assert report.shared == ()
    assert all(report.split), "each node fetched pages"
    stories = defaultdict(set)
    for number in range(3):
        with closing(sqlite3.connect(tmp_path / f"data-{number}" / "store.sqlite")) as store:
            for digest, url in store.execute("SELECT digest, url FROM articles"):
                stories[digest].add(url)
    assert len(stories) > 20
    assert {digest for digest, urls in stories.items() if digest and len(urls) > 1} == set()
    assert report.refetched <= 40  # pages in flight or not yet sent at the kill


@pytest.mark.crawl
@pytest.mark.slow
def test_redis_that_may_evict_keys_is_reported(tmp_path: Path, redis_url: str) -> None:
    with redis.Redis.from_url(redis_url) as client:
        client.config_set("maxmemory-policy", "allkeys-lru", "maxmemory", "100mb")
        try:
            status, log = run("http://127.0.0.1:9", tmp_path / "data", "crawl", "topic", "-a",
                              "topic=甲", "-a", "seeds=http://a.test/",
                              REDIS_URL=redis_url)  # fmt: skip
        finally:
            client.config_set("maxmemory-policy", "noeviction", "maxmemory", "0")
    assert status == 1, "no page can be fetched"
    assert "maxmemory-policy is allkeys-lru" in log


@pytest.mark.crawl
@pytest.mark.slow
def test_unreachable_redis_is_an_error(tmp_path: Path) -> None:
    url = "redis://:secret@127.0.0.1:9/0"
    status, log = run("http://127.0.0.1:9", tmp_path / "data", "crawl", "topic", "-a", "topic=甲",
                      "-a", "seeds=http://a.test/", REDIS_URL=url)  # fmt: skip
    assert status == 1
    assert "redis://127.0.0.1:9/0: Redis failed" in log
    assert "Traceback" not in log
    assert "secret" not in log
