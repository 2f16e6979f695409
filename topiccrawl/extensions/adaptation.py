"""The topic learns from the crawl: pages in, changed scorers out, every change stored first."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scrapy import signals
from scrapy.exceptions import NotConfigured

from topiccrawl.errors import SettingError, StateError, StorageError
from topiccrawl.frontier.contract import LEARNT
from topiccrawl.links.strategies import DEFAULT
from topiccrawl.links.strategies.base import Scored, block_texts
from topiccrawl.relevance.adaptation import METHODS, AdaptationParameters
from topiccrawl.relevance.adaptation_feedback import FeedbackAdapter
from topiccrawl.relevance.adaptation_links import scorers
from topiccrawl.relevance.adaptation_words import WordAdapter
from topiccrawl.scheduler.build import frontier_place
from topiccrawl.signals import page_judged
from topiccrawl.spiders.arguments import parameters_given
from topiccrawl.spiders.topic import TopicSpider
from topiccrawl.stores.changes import TopicChange
from topiccrawl.stores.choice import changes_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from topiccrawl.records import Page, Verdict
    from topiccrawl.relevance import Scorer
    from topiccrawl.relevance.adaptation import Adapter, Change
    from topiccrawl.relevance.vector import TopicVector

logger = logging.getLogger(__name__)

LEARNT_CHARS = 3_000
"""Characters of a page's beginning that are learnt from: its story, at a bounded cost."""

STORED_TERMS = 500
"""Terms of a change that are stored: half of them speak for the topic, half against it, those with
most evidence first. Where there are few for it, most would else be words of other pages."""

_OFF = frozenset({"", "0", "off", "false", "none"})


class TopicAdaptation:
    """Feeds an adapter and applies its changes.

    Args:
        crawler: Gives the spider, its stats and settings.
        spider: The spider whose topic learns.
        method: Which one of ``METHODS``.
        parameters: The adaptation's numbers.
        seed: Of the adapter's chance.
    """

    def __init__(
        self,
        crawler: Crawler,
        spider: TopicSpider,
        method: str,
        parameters: AdaptationParameters,
        seed: int,
    ) -> None:
        self.crawler = crawler
        self.spider = spider
        self.method = method
        self.parameters = parameters
        self.own: Scorer = spider.scorer
        self.adapter = self._adapter(np.random.default_rng(seed))
        self.log = changes_of(crawler.settings)
        self.frontier = frontier_place(crawler.settings, spider)
        self.number = 0
        self._storing: asyncio.Task[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension; what an earlier run learnt is taken up.

        Raises:
            NotConfigured: If it is switched off, the spider has no topic, or what was learnt cannot
                be read (it stays as it is).
            SettingError: If a setting cannot be used.
        """
        settings = crawler.settings
        method = method_of(settings, settings["TOPICCRAWL_STRATEGY"])
        spider = crawler.spider
        if not method or not isinstance(spider, TopicSpider):
            raise NotConfigured
        parameters = parameters_of(settings, spider.scorer.lower_limit)
        adaptation = cls(
            crawler, spider, method, parameters, settings.getint("TOPICCRAWL_ADAPT_SEED")
        )
        try:
            adaptation.resume()
        except (StateError, StorageError) as error:
            logger.warning("The topic learns nothing in this run: %s", error)
            raise NotConfigured from error
        crawler.signals.connect(adaptation.judged, page_judged)
        crawler.signals.connect(adaptation.closed, signals.spider_closed)
        return adaptation

    def resume(self) -> None:
        """Take up what an earlier run of the same topic learnt; a fresh crawl forgets it.

        Where the user's terms or the method changed since, it begins with the user's terms; queued
        URLs get new values then as after any change.
        """
        topic = self.spider.topic.name
        if self.spider.fresh:
            self.log.forget(topic, self.frontier)
        found = self.log.last(topic, self.frontier)
        if found is None:
            return
        last, state = found
        self.number = last.number
        if last.method != self.method or last.own != dict(self.own.vector.items()):
            self.number += 1
            self.spider.strategy.version = self._version()
            return
        self.adapter.restore(state)
        if change := self.adapter.present():
            self._apply(change)
            logger.info("Topic taken up as learnt: %s", change.reason)

    def judged(self, page: Page, verdict: Verdict) -> None:
        """Learn a page, and change the topic when it is time."""
        if weight := self.adapter.wants(verdict.relevance):
            document, relevance = self._document(page, verdict)
            self.adapter.learn(document, relevance, weight)
            self.crawler.stats.inc_value("topiccrawl/adaptation/learnt")
        if self._storing is None and (change := self.adapter.adapt()):
            self._storing = asyncio.ensure_future(self._take(change, self.adapter.state()))

    async def closed(self) -> None:
        """Wait for a change that is being stored."""
        if self._storing is not None:
            await self._storing

    def _adapter(self, rng: np.random.Generator) -> Adapter:
        if self.method == "words":
            return WordAdapter(self.own.vector, self.parameters, rng)
        return FeedbackAdapter(self.own.vector, self.parameters, rng)

    def _document(self, page: Page, verdict: Verdict) -> tuple[dict[str, float], float]:
        """What is learnt of a page: its vector, or that of its best block of anchors."""
        scorer = self.spider.scorer
        if self.parameters.anchors and verdict.relevant:
            texts = list(block_texts(page.links).values())
            ranked = sorted(zip(scorer.score_many(texts), texts, strict=True), reverse=True)
            relevance, text = ranked[0] if ranked else (0.0, "")
            relevant = relevance >= scorer.lower_limit
            return (scorer.page_vector(text), relevance) if relevant else ({}, relevance)
        text = scorer.judged_text(page)[:LEARNT_CHARS]
        return scorer.page_vector(text, page.title), verdict.relevance

    async def _take(self, change: Change, state: dict[str, Any]) -> None:
        """Store a change, then apply it: what orders the queue can always be shown."""
        try:
            await asyncio.to_thread(self.log.add, self._record(change), state)
        except StorageError as error:
            logger.error("The topic stays as it is: %s", error)  # noqa: TRY400 - the remedy is in it
        else:
            self.number += 1
            self._apply(change)
            logger.info("Topic change %d: %s", self.number, change.reason)
        finally:
            self._storing = None

    def _record(self, change: Change) -> TopicChange:
        return TopicChange(
            self.spider.topic.name,
            self.frontier,
            self.number + 1,
            time.time(),
            change.method,
            change.reason,
            change.pages,
            dict(self.own.vector.items()),
            stored(change.vector),
            change.lower_limit,
            change.upper_limit,
        )

    def _version(self) -> int:
        """Version of queued values: of the user's topic and of the change applied last.

        Learnt words leave the topic as it is; the genetic method makes another one.
        """
        step = LEARNT if self.method == "words" else 1
        return (self.spider.topic.version + self.number * step) % 2**32

    def _apply(self, change: Change) -> None:
        """Score with the changed topic; the version says which change a queued value is of."""
        changed = scorers(change, self.own, self.parameters.gain)
        strategy = self.spider.strategy
        self.spider.scorer = changed.pages
        strategy.adopt(changed.links)
        strategy.version = self._version()
        self.crawler.stats.set_value("topiccrawl/adaptation/changes", self.number)
        own_limit = self.spider.topic.thresholds.upper_limit
        if change.upper_limit is not None and own_limit is None and isinstance(strategy, Scored):
            strategy.parameters = replace(strategy.parameters, upper_limit=change.upper_limit)


def stored(vector: TopicVector) -> dict[str, float]:
    """The terms of a changed topic that are stored, for people: see ``STORED_TERMS``."""
    parts = ([t for t in vector.items() if (t[1] > 0) is good] for good in (True, False))
    return dict(term for part in parts for term in part[: STORED_TERMS // 2])


def method_of(settings: BaseSettings, strategy: str = DEFAULT) -> str:
    """The method's name, "" where adaptation is off.

    Args:
        settings: The crawl's.
        strategy: Name of its link strategy.

    Raises:
        SettingError: There is no such method.
    """
    name = str(settings.get("TOPICCRAWL_ADAPTATION") or "").lower()
    if name == "auto":
        return "words" if strategy == DEFAULT else ""
    if name in _OFF:
        return ""
    if name not in METHODS:
        raise SettingError(
            f"TOPICCRAWL_ADAPTATION is {name!r}: choose one of auto, {', '.join(METHODS)}, or off"
        )
    return name


def parameters_of(settings: BaseSettings, lower_limit: float) -> AdaptationParameters:
    """The adaptation's numbers: defaults, then ``TOPICCRAWL_ADAPT_*``; floor: the topic's limit.

    Raises:
        SettingError: One is no number or out of its range.
    """
    given = parameters_given(settings, AdaptationParameters)
    return AdaptationParameters(**{"floor": lower_limit, **given})
