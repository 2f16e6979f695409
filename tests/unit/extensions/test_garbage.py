"""Tests of rare garbage collections during a crawl."""

from __future__ import annotations

import gc

from scrapy import signals
from scrapy.utils.test import get_crawler

from topiccrawl.extensions.garbage import RARELY, RareCollections


def test_collections_are_rare_during_a_crawl_only() -> None:
    before = gc.get_threshold()
    crawler = get_crawler()
    running = RareCollections.from_crawler(crawler)  # receivers are weak references
    crawler.signals.send_catch_log(signals.engine_started)
    during = gc.get_threshold(), gc.get_freeze_count() > 0
    crawler.signals.send_catch_log(signals.engine_stopped)
    assert during == ((RARELY, *before[1:]), True)
    assert (gc.get_threshold(), gc.get_freeze_count()) == (before, 0)
    assert running is not None


def test_last_of_overlapping_crawls_restores_the_threshold() -> None:
    before = gc.get_threshold()
    first, second = RareCollections(), RareCollections()
    first.start()
    second.start()
    first.stop()
    assert gc.get_threshold() == (RARELY, *before[1:])
    second.stop()
    assert (gc.get_threshold(), gc.get_freeze_count()) == (before, 0)
