"""Two nodes watch a changing web: one node visits each hub, also after a kill."""

from __future__ import annotations

import signal
import time
from collections import defaultdict
from contextlib import ExitStack
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import pytest
import redis

from lab.demo.answers import Answer
from lab.demo.changes import Changes
from lab.demo.server import DemoServer
from tests.crawl.run import MEASURED, exit_status, log_of, run, running
from tests.crawl.test_watch import changes_since
from tests.crawl.web import article
from tests.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = [pytest.mark.crawl, pytest.mark.slow]

TOPIC = "足球"
HOSTS = 8
INTERVAL = 1.0
"""Seconds between two visits of a hub."""
SLACK = 0.02
FREQUENT = {
    "TOPICCRAWL_REVISIT_POLICY": "uniform",
    "TOPICCRAWL_REVISIT_HUB": str(INTERVAL),
    "TOPICCRAWL_REVISIT_ARTICLE": "0.5",
    "TOPICCRAWL_GONE_SECONDS": "0.5",
}


class Arrival(NamedTuple):
    """A request: its time of arrival and its node."""

    at: float
    node: int


class ChangingWeb:
    """Hubs that link to each other and to articles, which appear, change and disappear by round.

    In the second round the third article is new, the first has another text and the second is gone;
    in the third round there is a fourth.
    """

    hubs = tuple(f"http://a{n}.test/" for n in range(HOSTS))
    shown: ClassVar = {1: (1, 2), 2: (1, 3), 3: (1, 3, 4)}

    def __init__(self) -> None:
        self.round = 1

    def answer(self, url: str, visit: int = 0, cookie: str = "") -> Answer:
        host, _, page = url.removeprefix("http://").partition("/")
        shown = self.shown[self.round]
        if not page:
            items = "".join(
                f'<li><a href="/{n}.html">足球比赛{host}第{n}轮</a></li>' for n in shown
            )
            hubs = "".join(f'<li><a href="{to}">足球新闻 {to}</a></li>' for to in self.hubs)
            text = f"<html><title>足球</title><body><ul>{items}{hubs}</ul></body></html>"
        elif page[0].isdigit() and int(page[0]) in shown:
            more = "加时赛后分出胜负，" if page[0] == "1" and self.round > 1 else ""
            text = article(f"足球 {host} 第{page[0]}轮", f"{host}第{page[0]}轮足球比赛结束，{more}")
        else:
            return Answer(404)
        return Answer(200, (("Content-Type", "text/html; charset=utf-8"),), text.encode())

    def articles(self, number: int) -> tuple[str, ...]:
        """Return the articles with a number, on all hosts."""
        return tuple(sorted(f"{hub}{number}.html" for hub in self.hubs))


class Watchers:
    """Nodes with one data folder; each has a server that records its requests."""

    def __init__(self, stack: ExitStack, web: ChangingWeb, data: Path, redis_url: str) -> None:
        self.web, self.data = web, data
        self.arrivals: defaultdict[str, list[Arrival]] = defaultdict(list)
        self.settings = {**FREQUENT, "REDIS_URL": redis_url}
        self.servers = [stack.enter_context(DemoServer(web)) for _ in range(2)]
        for node, server in enumerate(self.servers):
            server.asked = lambda url, at, node=node: self.arrivals[url].append(Arrival(at, node))

    def command(self, watch: str) -> tuple[str, ...]:
        seeds = f"seeds={self.web.hubs[0]}"
        return ("crawl", "topic", "-a", f"topic={TOPIC}", "-a", seeds, "-a", f"watch={watch}")

    def hubs_at(self, node: int, visits: int, since: float = 0.0) -> list[str]:
        """Return the hubs with at least so many visits by a node since a time."""
        asked = {
            hub: [arrival for arrival in self.arrivals[hub] if arrival.at > since]
            for hub in self.web.hubs
        }
        return [
            hub
            for hub, arrivals in asked.items()
            if sum(a.node == node for a in arrivals) >= visits
        ]

    def window(self, since: float) -> Changes:
        """Return the changes of articles that are stored since a time."""
        return changes_since(self.data, TOPIC, since)

    def wait(self, condition: Callable[[], bool]) -> None:
        until(condition, lambda: log_of(self.data).read_text()[-5000:])

    def gaps(self, killed_at: float = 0.0) -> Iterator[tuple[str, float]]:
        """Yield the seconds between two visits of a hub, except across a kill."""
        for hub in self.web.hubs:
            for one, other in pairwise(sorted(self.arrivals[hub])):
                if not one.at <= killed_at <= other.at:
                    yield hub, other.at - one.at


@pytest.fixture
def watchers(tmp_path: Path, redis_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watchers]:
    monkeypatch.delenv(MEASURED, raising=False)
    with redis.Redis.from_url(redis_url) as client:
        client.flushdb()
    with ExitStack() as stack:
        yield Watchers(stack, ChangingWeb(), tmp_path / "data", redis_url)


@pytest.mark.usefixtures("no_coverage")
def test_each_hub_has_one_node_and_moves_when_it_is_killed(watchers: Watchers) -> None:
    web, data = watchers.web, watchers.data
    with ExitStack() as stack:
        command, settings = watchers.command("1"), watchers.settings
        processes = [
            stack.enter_context(running(server.proxy, data, *command, **settings))
            for server in watchers.servers
        ]
        first = Changes(tuple(sorted(web.articles(1) + web.articles(2))), (), ())
        watchers.wait(lambda: all(watchers.hubs_at(node, 2) for node in (0, 1)))
        watchers.wait(lambda: watchers.window(0.0) == first)
        began, web.round = time.time(), 2
        second = Changes(web.articles(3), web.articles(1), web.articles(2))
        watchers.wait(lambda: watchers.window(began) == second)
        processes[0].send_signal(signal.SIGKILL)
        processes[0].wait()
        killed_at = time.monotonic()
        watchers.wait(lambda: watchers.hubs_at(1, 2, killed_at) == list(web.hubs))
        began, web.round = time.time(), 3
        watchers.wait(lambda: watchers.window(began) == Changes(web.articles(4), (), ()))
        processes[1].send_signal(signal.SIGINT)
        assert exit_status(processes[1], data) == 0
    assert [(hub, gap) for hub, gap in watchers.gaps(killed_at) if gap < INTERVAL - SLACK] == []


def test_restarted_single_node_visits_due_pages_and_ends(watchers: Watchers) -> None:
    web, server = watchers.web, watchers.servers[0]
    for visits in (1, 2):
        status, out = run(
            server.proxy, watchers.data, *watchers.command("once"), **watchers.settings
        )
        assert status == 0, out[-3000:]
        assert watchers.hubs_at(0, visits) == list(web.hubs)
        web.round = 2
    assert watchers.window(0.0).new == tuple(sorted(web.articles(1) + web.articles(3)))
    assert [(hub, gap) for hub, gap in watchers.gaps() if gap < INTERVAL - SLACK] == []
