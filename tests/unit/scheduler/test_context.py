"""Tests of the context that a crawler has until its crawl ends."""

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
    """A spider without a crawl spec."""

    name = "plain"
    topic = watch = spec = "mine"


class WithSpec(Spider):
    """A spider with a crawl spec."""

    name = "stated"
    spec = CrawlSpec(name="足球", owner="足球", watch="once")


def test_spec_is_read_only_from_a_crawl_spec() -> None:
    assert spec_of(Plain()) == CrawlSpec(name="plain", owner="spider-plain")
    assert spec_of(WithSpec()) is WithSpec.spec
    assert spec_of(None).name == "unnamed"


def test_each_crawler_has_one_context_of_its_own() -> None:
    crawler = get_crawler(Plain)
    context = context_of(crawler)
    assert context_of(crawler) is context
    assert context_of(get_crawler(Plain)) is not context
    assert (context.opened, context.is_blocked, context.status) == (False, False, {})


def test_pause_or_gate_blocks_requests() -> None:
    context = context_of(get_crawler(Plain))
    blocked = []
    context.pause()
    blocked.append(context.is_blocked)
    context.resume()
    blocked.append(context.is_blocked)
    context.may_fetch = lambda: False
    blocked.append(context.is_blocked)
    assert blocked == [True, False, True]


class Listener:
    """Records settled leases."""

    def __init__(self) -> None:
        self.outcomes: list[tuple[Lease, Outcome]] = []

    def settled(self, lease: Lease, outcome: Outcome) -> None:
        self.outcomes.append((lease, outcome))


def test_settled_leases_are_reported() -> None:
    crawler, listener = get_crawler(Plain), Listener()
    context_of(crawler).on_settled(listener.settled)
    lease = Lease("http://a.test/", b"", 1, Kind.PAGE, 0, 0.5)
    crawler.signals.send_catch_log(lease_settled, lease=lease, outcome=Outcome(Ending.CRAWLED))
    assert listener.outcomes == [(lease, Outcome(Ending.CRAWLED))]


def test_crawl_ends_only_once() -> None:
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
