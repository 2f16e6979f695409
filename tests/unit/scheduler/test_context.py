"""One context for each crawler, from before the frontier is open until the crawl ends."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from scrapy import Spider
from scrapy.utils.test import get_crawler

from topiccrawl.frontier.contract import Ending, Outcome
from topiccrawl.model import Kind, Lease
from topiccrawl.scheduler.context import CrawlSpec, context_of, spec_of
from topiccrawl.scheduler.signals import lease_settled


class Plain(Spider):
    """A spider of any project."""

    name = "plain"
    topic = watch = spec = "mine"


class Stated(Spider):
    """A spider that states facts of its crawl."""

    name = "stated"
    spec = CrawlSpec(name="足球", owner="足球", watch="once")


def test_only_a_spec_states_facts() -> None:
    assert spec_of(Plain()) == CrawlSpec(name="plain", owner="spider-plain")
    assert spec_of(Stated()) is Stated.spec
    assert spec_of(None).name == "unnamed"


def test_a_crawler_keeps_one_context_and_another_has_its_own() -> None:
    crawler = get_crawler(Plain)
    context = context_of(crawler)
    assert context_of(crawler) is context
    assert context_of(get_crawler(Plain)) is not context
    assert (context.opened, context.is_blocked, context.status) == (False, False, {})


def test_requests_are_held_by_a_pause_or_a_gate() -> None:
    context = context_of(get_crawler(Plain))
    held = []
    context.pause()
    held.append(context.is_blocked)
    context.resume()
    held.append(context.is_blocked)
    context.may_fetch = lambda: False
    held.append(context.is_blocked)
    assert held == [True, False, True]


class Listener:
    """Keeps what was settled."""

    def __init__(self) -> None:
        self.heard: list[tuple[Lease, Outcome]] = []

    def settled(self, lease: Lease, outcome: Outcome) -> None:
        self.heard.append((lease, outcome))


def test_settled_leases_are_reported() -> None:
    crawler, listener = get_crawler(Plain), Listener()
    context_of(crawler).on_settled(listener.settled)
    lease = Lease("http://a.test/", b"", 1, Kind.PAGE, 0, 0.5)
    crawler.signals.send_catch_log(lease_settled, lease=lease, outcome=Outcome(Ending.CRAWLED))
    assert listener.heard == [(lease, Outcome(Ending.CRAWLED))]


def test_a_crawl_ends_once() -> None:
    reasons: list[str] = []

    async def close(reason: str) -> None:
        reasons.append(reason)

    async def end() -> None:
        crawler: Any = get_crawler(Plain)
        engine = SimpleNamespace(spider=Plain(), close_spider_async=close)
        crawler.engine = engine
        context = context_of(crawler)
        context.end("budget")
        context.end("cancelled")
        await asyncio.sleep(0)

    asyncio.run(end())
    assert reasons == ["budget"]
