"""Relevance models learned from marks during a crawl, and the sample of scored pages they need."""

from __future__ import annotations

import asyncio
import logging
import random
import sys
from typing import TYPE_CHECKING, Self, cast

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import create_looping_call

from topiccrawl.addons.marks.rescoring import Rescoring
from topiccrawl.errors import StateError, StorageError
from topiccrawl.scheduler.context import context_of
from topiccrawl.scheduler.signals import example_read, page_judged
from topiccrawl.storage.factory import storage_of
from topiccrawl.storage.sites import MarkStore, Sites
from topiccrawl.topics.learning import request
from topiccrawl.topics.marks import (
    MIN_WANTED,
    MarkedModel,
    OnWordScale,
    as_page,
    derived_vector,
    example_texts,
    mark_of,
    without_links,
)
from topiccrawl.topics.multitopic import MultiScorer
from topiccrawl.topics.scorer import Scorer

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from scrapy.crawler import Crawler

    from topiccrawl.model import Mark, Page, Verdict
    from topiccrawl.spiders.topic import TopicSpider

logger = logging.getLogger(__name__)

SAMPLE = 200
"""Number of pages in the sample, the background of the model; as many as in benchmarks.judge."""
CHARACTERS = 3_000
"""Maximum characters of a page in the sample; 200 pages take at most 2 MB."""
EVERY = 2.0
"""Seconds between two checks for new marks; a check reads one small value."""
FIRST = 50
"""Number of scored pages after which the sample is first stored; then at each doubling."""


class PageSample:
    """Uniform sample of scored pages in bounded memory (reservoir sampling).

    Args:
        seen: Number of pages that the sample was drawn from.
        pages: Pages of the sample.
        rng: Random generator.
    """

    def __init__(self, seen: int, pages: Sequence[Mark], rng: random.Random) -> None:
        self.seen = seen
        self.pages = list(pages)
        self._rng = rng

    def add(self, page: Page) -> None:
        """Add a page with the probability that makes all pages equally likely."""
        self.seen += 1
        place = len(self.pages) if len(self.pages) < SAMPLE else self._rng.randrange(self.seen)
        if place < SAMPLE:
            mark = mark_of(page)
            self.pages[place : place + 1] = [mark._replace(text=mark.text[:CHARACTERS])]


class MarkedTopic:
    """Score the pages of each topic by a model learned from its marks, if there are marks.

    Args:
        crawler: Crawler of a topic spider.

    Attributes:
        learning: Allows one learning process at a time.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.spider = cast("TopicSpider", crawler.spider)
        self.rescoring = Rescoring(crawler.settings, self.verdicts)
        self.learning = asyncio.Lock()
        scorer = self.spider.scorer
        scorers = scorer.scorers if isinstance(scorer, MultiScorer) else (scorer,)
        self.topics = [TopicMarks(self, index, one) for index, one in enumerate(scorers)]

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension.

        Raises:
            NotConfigured: If the spider has no topic, or TOPICCRAWL_RELEVANCE is set.
        """
        scorer, other = getattr(crawler.spider, "scorer", None), "TOPICCRAWL_RELEVANCE"
        if not isinstance(scorer, Scorer | MultiScorer) or crawler.settings[other]:
            raise NotConfigured
        marked = cls(crawler)
        for topic in marked.topics:
            crawler.signals.connect(topic.opened, signals.spider_opened)
            crawler.signals.connect(topic.judged, page_judged)
            crawler.signals.connect(topic.shown, example_read)
        crawler.signals.connect(marked.closed, signals.spider_closed)
        return marked

    def verdicts(self, page: Page, names: Container[str]) -> dict[str, Verdict]:
        """Return the current verdicts of the topics with the given names, by name."""
        scorer = self.spider.scorer
        if not self.spider.judges_links:
            page = page._replace(expected=None)
        if isinstance(scorer, MultiScorer):
            return {topic.name: one for topic, one in scorer.verdicts(page, names)}
        name = scorer.topic.name
        return {name: self.spider.judges[0].score_page(page)} if name in names else {}

    async def closed(self) -> None:
        """Stop learning for all topics, then stop re-scoring stored articles."""
        try:
            await asyncio.gather(*(topic.closed() for topic in self.topics))
        finally:
            await self.rescoring.close()


class TopicMarks:
    """Score the pages of one topic by a model learned from marks, if there are marks.

    The model is learned in a separate process, at the start and after each change of the marks.

    Args:
        marked: All topics of the crawl.
        index: Index of the topic among the topics of the spider.
        scorer: Scorer by the words of the topic.
    """

    def __init__(self, marked: MarkedTopic, index: int, scorer: Scorer) -> None:
        self.marked = marked
        self.scorer = scorer
        self.topic = scorer.topic
        self._index = index
        name = self.topic.name
        self._sites = Sites(storage_of(marked.crawler.settings))
        self.store = MarkStore(self._sites, name)
        self.sample = PageSample(0, (), random.Random(name))  # noqa: S311 - no secret
        self._marks: dict[str, Mark] = {}
        self._changed_at = -1.0
        self._counted = 0
        self._stored = 0
        self._open = False
        self._unreadable = False
        self._work: asyncio.Task[None] | None = None
        self._adding: list[asyncio.Task[None]] = []
        self._loop = create_looping_call(self._poll)

    async def opened(self) -> None:
        """Load the marks and the sample, and learn before the first page."""
        try:
            await self._sites.open()
            self._open = True
            self.sample.seen, self.sample.pages = await self.store.pages()
            await self._add(example_texts(self.topic))
        except (StateError, StorageError) as error:
            logger.warning("Marks are ignored in this run: %s", error)
            return
        self._stored = self.sample.seen
        for page in map(as_page, self.sample.pages):
            self.scorer.observe(page)
        await self._refresh()
        self._loop.start(EVERY, now=False)

    def judged(self, page: Page) -> None:
        """Add a page to the sample unless its robots directives forbid it."""
        if not (page.directives.noarchive or page.directives.noindex):
            self.sample.add(page)

    def shown(self, page: Page, wanted: bool) -> None:  # noqa: FBT001 - as the signal sends
        """Add a fetched example to the marks."""
        mark = mark_of(page, wanted=wanted)
        self._marks[mark.url] = mark
        self._derive_terms()
        self._adding.append(asyncio.ensure_future(self._add([mark])))

    async def closed(self) -> None:
        """Store the sample."""
        if self._loop.running:
            self._loop.stop()
        if self._work is not None:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)
        await asyncio.gather(*self._adding)
        if self._open:
            await self._store_sample()
            await self._sites.close()

    def _poll(self) -> None:
        if self._work is None or self._work.done():
            self._work = asyncio.ensure_future(self._refresh())

    async def _add(self, marks: Sequence[Mark]) -> None:
        """Store marks of URLs that have none; the marks of readers are kept."""
        if not self._open:
            return
        try:
            known = {mark.url for mark in await self.store.marks()}
            if new := [mark for mark in marks if mark.url not in known]:
                await self.store.mark(new)
        except StorageError as error:
            logger.warning("Examples cannot be stored: %s", error)

    async def _refresh(self) -> None:
        """Store the sample if it has doubled; learn again if it has, or if the marks changed."""
        try:
            grown = self.sample.seen >= max(FIRST, 2 * self._stored)
            if grown:
                await self._store_sample()
            changed_at = await self.store.changed()
            if changed_at != self._changed_at:
                self._marks = {mark.url: mark for mark in await self.store.marks()}
                self._derive_terms()
            if changed_at != self._changed_at or (grown and self._marks):
                self._changed_at = changed_at
                await self._learn(tuple(self._marks.values()))
        except StorageError as error:
            if not self._unreadable:
                logger.warning("New marks cannot be read: %s", error)
            self._unreadable = True
        else:
            self._unreadable = False

    def _derive_terms(self) -> None:
        """Derive the terms of a topic without terms from its examples."""
        scorer, strategy = self.scorer, context_of(self.marked.crawler).spec.strategy
        if self.topic.terms or strategy is None:
            return
        vector = derived_vector(tuple(self._marks.values()), self.sample.pages)
        if vector.terms and vector != scorer.vector:
            scorer.adopt(vector)
            strategy.adopt(scorer)
            strategy.version = scorer.version
            words = " ".join(f"{term}^{weight:g}" for term, weight in vector.items())
            logger.info("Topic terms derived from examples: %s", words)

    async def _store_sample(self) -> None:
        seen = self.sample.seen
        if self._stored != seen:
            try:
                await self.store.put_pages(seen, tuple(self.sample.pages))
            except StorageError as error:
                logger.warning("The sample of scored pages cannot be stored: %s", error)
            self._stored = seen

    async def _learn(self, marks: Sequence[Mark]) -> None:
        """Learn a model from marks, and put it to use."""
        spider, stats = self.marked.spider, self.marked.crawler.stats
        if not marks and spider.judges[self._index] is spider.scorer.scorers[self._index]:
            return
        pages: Sequence[Mark] = self.sample.pages
        if not spider.judges_links:  # marks and sample may be of a crawl that did
            marks, pages = without_links(marks), without_links(pages)
        data = request(self.scorer, marks, pages)
        async with self.marked.learning:
            learned = await learn_in_process(data)
        if learned is None:
            return
        model = MarkedModel.from_json(self.scorer, learned) if learned else None
        words = spider.scorer.scorers[self._index]
        spider.judges[self._index] = OnWordScale(model, self.scorer) if model else words
        share = model.classifier.share if model else 0.0
        stats.inc_value("topiccrawl/marks", len(marks) - self._counted)
        stats.set_value("topiccrawl/marks/share", share)
        self._counted = len(marks)
        if model is None:
            text = "Topic %s: %d marks; its words decide until %d pages that differ are marked yes"
            logger.info(text, self.topic.name, len(marks), MIN_WANTED)
            return
        source = f"Topic {self.topic.name}: model learned from {len(marks)} marks"
        logger.info("%s; its weight in the relevance is %.0f %%", source, share * 100)
        if marks:
            self.marked.rescoring.begin(self.topic.name)


async def learn_in_process(data: str) -> str | None:
    """Run the learning process; return its output, or None if it failed.

    Cancelling the coroutine ends the process.
    """
    pipe = asyncio.subprocess.PIPE
    command = (sys.executable, "-m", "topiccrawl.topics.learning")
    process = await asyncio.create_subprocess_exec(
        *command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
    )
    try:
        out, errors = await process.communicate(data.encode())
    finally:
        if process.returncode is None:
            process.kill()
    if process.returncode:
        logger.error("Learning from marks failed: %s", errors.decode()[-500:])
        return None
    return out.decode()
