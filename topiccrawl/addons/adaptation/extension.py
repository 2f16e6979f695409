"""Extension that adapts the topic to crawled pages; each change is stored before it is applied."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Any, Self

from scrapy import signals
from scrapy.exceptions import NotConfigured

from topiccrawl.addons.adaptation.learner import METHODS, AdaptationParameters, TopicLearner
from topiccrawl.errors import SettingError, StateError, StorageError
from topiccrawl.links.strategies import DEFAULT, LinkStrategy
from topiccrawl.messages import NameList
from topiccrawl.scheduler.frontiers import frontier_place
from topiccrawl.scheduler.hooks import read_parameters
from topiccrawl.scheduler.signals import page_judged
from topiccrawl.spiders.arguments import adapter_of
from topiccrawl.spiders.topic import TopicSpider
from topiccrawl.storage.changes import ChangeLog, TopicChange
from topiccrawl.storage.factory import storage_of
from topiccrawl.topics import Scorer

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from topiccrawl.model import Page, Verdict
    from topiccrawl.topics.contract import TopicAdapter, TopicUpdate
    from topiccrawl.topics.vector import TopicVector

logger = logging.getLogger(__name__)

STORED_TERMS = 500
"""Maximum number of stored terms of a change: half of them with positive weights and half with
negative ones, by descending evidence, so that negative terms do not displace positive ones."""

_OFF = frozenset({"", "0", "off", "false", "none"})


class TopicAdaptation:
    """Passes pages to an adapter and applies its changes.

    Args:
        crawler: The crawler, with stats and settings.
        spider: The spider whose topic is adapted.
        own: Scorer of the user's topic.
        adapter: The adapter, which learns and changes the topic.
    """

    def __init__(
        self, crawler: Crawler, spider: TopicSpider, own: Scorer, adapter: TopicAdapter
    ) -> None:
        self.crawler = crawler
        self.spider = spider
        self.adapter = adapter
        self.own = own
        self.log = ChangeLog(storage_of(crawler.settings))
        self.frontier = frontier_place(crawler)
        self.number = 0
        self._storing: asyncio.Task[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension, with the state of an earlier run.

        Raises:
            NotConfigured: If adaptation is off, the spider has no topic, or the stored state cannot
                be read (it is left unchanged).
            SettingError: If a setting is invalid.
        """
        settings, spider = crawler.settings, crawler.spider
        if not isinstance(spider, TopicSpider) or not isinstance(spider.scorer, Scorer):
            raise NotConfigured  # several topics: a change would affect all of them
        adapter = adapter_of(settings, spider.scorer, spider.strategy)
        if adapter is None:
            raise NotConfigured
        adaptation = cls(crawler, spider, spider.scorer, adapter)
        try:
            adaptation.resume()
        except (StateError, StorageError) as error:
            logger.warning("Adaptation is disabled in this run: %s", error)
            raise NotConfigured from error
        crawler.signals.connect(adaptation.judged, page_judged)
        crawler.signals.connect(adaptation.closed, signals.spider_closed)
        return adaptation

    def resume(self) -> None:
        """Restore the state of an earlier run of the same topic; a fresh crawl deletes it.

        If the user's terms or the method have changed since, adaptation starts again with the
        user's terms, and queued URLs are re-scored as after any change.
        """
        topic = self.spider.topic.name
        if self.spider.spec.fresh:
            self.log.forget(topic, self.frontier)
        found = self.log.last(topic, self.frontier)
        if found is None:
            return
        last, state = found
        self.number = last.number
        if last.method != self.adapter.method or last.own != dict(self.own.vector.items()):
            self.number += 1
            self.adapter.apply(self.number)
            return
        self.adapter.restore(state)
        if change := self.adapter.present():
            self._apply(change)
            logger.info("Adapted topic of an earlier run restored: %s", change.reason)

    def judged(self, page: Page, verdict: Verdict) -> None:
        """Learn a page by its words alone, and change the topic when due.

        Learned words raise the scores of links, which must not select the pages to learn from.
        """
        if self.adapter.learn(page, verdict.for_links):
            self.crawler.stats.inc_value("topiccrawl/adaptation/learnt")
        if self._storing is None and (change := self.adapter.adapt()):
            self._storing = asyncio.ensure_future(
                self._store_and_apply(change, self.adapter.state())
            )

    async def closed(self) -> None:
        """Wait until a pending change is stored."""
        if self._storing is not None:
            await self._storing

    async def _store_and_apply(self, change: TopicUpdate, state: dict[str, Any]) -> None:
        """Store a change, then apply it, so that the stored topic is always the one in use."""
        try:
            await asyncio.to_thread(self.log.add, self._record(change), state)
        except StorageError as error:
            logger.error("The topic is not changed: %s", error)  # noqa: TRY400 - has a remedy
        else:
            self.number += 1
            self._apply(change)
            logger.info("Topic change %d: %s", self.number, change.reason)
        finally:
            self._storing = None

    def _record(self, change: TopicUpdate) -> TopicChange:
        return TopicChange(
            self.spider.topic.name,
            self.frontier,
            self.number + 1,
            time.time(),
            change.method,
            change.reason,
            change.pages,
            dict(self.own.vector.items()),
            terms_to_store(change.vector),
            change.lower_limit,
            change.upper_limit,
        )

    def _apply(self, change: TopicUpdate) -> None:
        """Score with the changed topic."""
        self.adapter.apply(self.number, change)
        former, self.spider.scorer = self.spider.scorer, self.adapter.scorer
        if self.spider.judges[0] is former:  # no marks, no custom relevance model
            self.spider.judges[0] = self.spider.scorer
        self.crawler.stats.set_value("topiccrawl/adaptation/changes", self.number)


def terms_to_store(vector: TopicVector) -> dict[str, float]:
    """Return the terms of a changed topic to store, at most ``STORED_TERMS``."""
    parts = ([t for t in vector.items() if (t[1] > 0) is good] for good in (True, False))
    return dict(term for part in parts for term in part[: STORED_TERMS // 2])


def learner_of(
    settings: BaseSettings, scorer: Scorer, strategy: LinkStrategy
) -> TopicLearner | None:
    """Return the adapter of ``TOPICCRAWL_ADAPTATION``, or None if adaptation is off.

    Its parameters are ``TOPICCRAWL_ADAPT_*``; ``floor`` defaults to the topic's limit.

    Args:
        settings: Settings of the crawl.
        scorer: Scorer of the user's topic.
        strategy: Link strategy, named by ``TOPICCRAWL_STRATEGY``.

    Raises:
        SettingError: If a setting is invalid.
    """
    method = method_of(settings, settings["TOPICCRAWL_STRATEGY"])
    if not method:
        return None
    given = read_parameters(settings, "TOPICCRAWL_ADAPT_", AdaptationParameters)
    parameters = AdaptationParameters(**{"floor": scorer.lower_limit, **given})
    seed = settings.getint("TOPICCRAWL_ADAPT_SEED")
    return TopicLearner(scorer, strategy, method, parameters, seed)


def method_of(settings: BaseSettings, strategy: str = DEFAULT) -> str:
    """Return the name of the method, or "" if adaptation is off.

    Args:
        settings: Settings of the crawl.
        strategy: Name of the link strategy.

    Raises:
        SettingError: If there is no such method.
    """
    name = str(settings.get("TOPICCRAWL_ADAPTATION") or "").lower()
    if name == "auto":
        return "words" if strategy == DEFAULT else ""
    if name in _OFF:
        return ""
    if name not in METHODS:
        raise SettingError(
            "TOPICCRAWL_ADAPTATION is {name!r}: set it to auto, {choices} or off",
            name=name,
            choices=NameList(METHODS),
        )
    return name
