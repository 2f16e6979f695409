"""Marks in a crawl: a model learned from them judges the pages; a sample of pages is kept.

A topic given as words or a sentence says little. Without marks a model learns from the pages that
score best by its words (``learn_unmarked``).
"""

from __future__ import annotations

import asyncio
import logging
import random
import sys
from typing import TYPE_CHECKING, Any, Protocol, Self
from zlib import crc32

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import create_looping_call

from topiccrawl.errors import StateError, StorageError
from topiccrawl.extensions.rescoring import rescore
from topiccrawl.links.strategies.contract import LEARNT
from topiccrawl.scheduler.signals import example_read, page_judged
from topiccrawl.storage.choice import articles_of, storage_of
from topiccrawl.storage.marks import MarkStore
from topiccrawl.storage.sites import Sites
from topiccrawl.topics.examples import derived_vector, example_texts
from topiccrawl.topics.learning import as_page, request
from topiccrawl.topics.marks import Mark, MarkedModel, OnWordScale
from topiccrawl.topics.scorer import Scorer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy.crawler import Crawler

    from topiccrawl.links.strategies import LinkStrategy
    from topiccrawl.model import Page, Verdict
    from topiccrawl.topics.contract import RelevanceModel
    from topiccrawl.topics.topic import Topic

logger = logging.getLogger(__name__)

SAMPLE = 200
"""Pages of the sample, the background of the model; benchmarks.judge draws as many."""
CHARACTERS = 3_000
"""Characters of a page's text in the sample: 200 pages take at most 2 MB."""
EVERY = 2.0
"""Seconds between two looks for new marks; one small value is read."""
BEST = 10
"""Pages that are learned from without marks, as in benchmarks.judge."""
FIRST = 50
"""Judged pages after which the sample is stored for the first time, then at each doubling."""


PATIENCE = 5.0
"""Seconds that the end of a crawl waits for the scores of stored articles."""


class PageSample:
    """Uniform sample of judged pages, in bounded memory (reservoir sampling).

    Args:
        seen: Pages that the sample was drawn from.
        pages: The sample.
        dice: Random generator.
    """

    def __init__(self, seen: int, pages: Sequence[Mark], dice: random.Random) -> None:
        self.seen = seen
        self.pages = list(pages)
        self._dice = dice

    def add(self, page: Page) -> None:
        """Take a page in with the probability that makes all pages equally likely."""
        self.seen += 1
        place = len(self.pages) if len(self.pages) < SAMPLE else self._dice.randrange(self.seen)
        if place < SAMPLE:
            mark = Mark.of(page)
            self.pages[place : place + 1] = [mark._replace(text=mark.text[:CHARACTERS])]


class BestPages:
    """The pages that score best by a topic's words.

    Args:
        scorer: Scorer by words.
    """

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer
        self._found: dict[str, tuple[float, Mark]] = {}

    def add(self, page: Page) -> None:
        """Take a page in, if it is on topic and one of the best."""
        verdict = self._scorer.score_page(page)
        if verdict.relevant:
            self._found[page.url] = verdict.harvest, Mark.of(page)
            if len(self._found) > BEST:
                del self._found[min(self._found, key=lambda url: self._found[url][0])]

    @property
    def pages(self) -> tuple[Mark, ...]:
        """The pages, none until there are enough."""
        found = tuple(mark for _, mark in self._found.values())
        return found if len(found) == BEST else ()


class Judging(Protocol):
    """A spider with a topic; ``marked`` judges its pages in place of ``scorer`` if it is set."""

    topic: Topic
    strategy: LinkStrategy
    scorer: Scorer
    marked: RelevanceModel | None


class MarkedTopic:
    """Judges the spider's pages by a model from marks, while there are any.

    The model is learned in a process of its own, at the start and after each change of the marks.

    Args:
        crawler: Crawler of the spider.
        spider: The spider.
    """

    def __init__(self, crawler: Crawler, spider: Judging) -> None:
        self.crawler = crawler
        self.spider = spider
        name = spider.topic.name
        self.store = MarkStore(Sites(storage_of(crawler.settings)), name)
        self.sample = PageSample(0, (), random.Random(name))  # noqa: S311 - no secret
        learns = crawler.settings.getbool("TOPICCRAWL_LEARN_UNMARKED")
        self.best = BestPages(spider.scorer) if learns and spider.topic.text else None
        self._marks: dict[str, Mark] = {}
        self._changed = -1.0
        self._stored = 0
        self._open = False
        self._work: asyncio.Task[None] | None = None
        self._adding: list[asyncio.Task[None]] = []
        self._rescoring: asyncio.Task[None] | None = None
        self._loop = create_looping_call(self._look)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the extension.

        Raises:
            NotConfigured: If the spider has no topic.
        """
        spider: Any = crawler.spider
        if not isinstance(getattr(spider, "scorer", None), Scorer):
            raise NotConfigured
        marked = cls(crawler, spider)
        crawler.signals.connect(marked.opened, signals.spider_opened)
        crawler.signals.connect(marked.judged, page_judged)
        crawler.signals.connect(marked.shown, example_read)
        crawler.signals.connect(marked.closed, signals.spider_closed)
        return marked

    async def opened(self) -> None:
        """Load marks and sample, and learn before the first page."""
        try:
            await self.store.open()
            self._open = True
            self.sample.seen, self.sample.pages = await self.store.pages()
            await self._add(example_texts(self.spider.topic))
        except (StateError, StorageError) as error:
            logger.warning("Marks are not used in this run: %s", error)
            return
        self._stored = self.sample.seen
        for page in map(as_page, self.sample.pages):
            self.spider.scorer.observe(page)
            if self.best is not None:
                self.best.add(page)
        await self._refresh()
        self._loop.start(EVERY, now=False)

    def judged(self, page: Page, verdict: Verdict) -> None:
        """Sample a page that may be kept."""
        if not (page.directives.noarchive or page.directives.noindex):
            self.sample.add(page)
            if self.best is not None and verdict.relevant:
                self.best.add(page)

    def shown(self, page: Page, wanted: bool) -> None:  # noqa: FBT001 - as the signal sends
        """Take in an example that was fetched."""
        mark = Mark.of(page, wanted=wanted)
        self._marks[mark.url] = mark
        self._derive()
        self._adding.append(asyncio.ensure_future(self._add([mark])))

    async def closed(self) -> None:
        """Store the sample."""
        if self._loop.running:
            self._loop.stop()
        if self._rescoring is not None:
            await asyncio.wait([self._rescoring], timeout=PATIENCE)
        for work in filter(None, (self._work, self._rescoring)):
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
        await asyncio.gather(*self._adding)
        if self._open:
            await self._keep_sample()
            await self.store.close()

    def _look(self) -> None:
        if self._work is None or self._work.done():
            self._work = asyncio.ensure_future(self._refresh())

    async def _add(self, marks: Sequence[Mark]) -> None:
        """Store marks of URLs that have none yet; readers' own stay."""
        if not self._open:
            return
        try:
            known = {mark.url for mark in await self.store.marks()}
            if new := [mark for mark in marks if mark.url not in known]:
                await self.store.mark(new)
        except StorageError as error:
            logger.warning("Examples cannot be stored: %s", error)

    async def _refresh(self) -> None:
        """Store the sample when it is time; learn again when it grew or marks changed."""
        try:
            grown = self.sample.seen >= max(FIRST, 2 * self._stored)
            if grown:
                await self._keep_sample()
            changed = await self.store.changed()
            if changed != self._changed:
                self._marks = {mark.url: mark for mark in await self.store.marks()}
                self._derive()
            best = self.best.pages if self.best is not None else ()
            if changed != self._changed or (grown and (self._marks or best)):
                self._changed = changed
                await self._learn(tuple(self._marks.values()), best)
        except StorageError as error:
            logger.warning("New marks cannot be read: %s", error)

    def _derive(self) -> None:
        """Give a topic without words those that its examples have in common."""
        spider = self.spider
        if spider.topic.terms:
            return
        vector = derived_vector(tuple(self._marks.values()), self.sample.pages)
        if vector.terms and vector != spider.scorer.vector:
            spider.scorer.adopt(vector)
            spider.strategy.adopt(spider.scorer)
            spider.strategy.version = crc32(repr(vector).encode()) % LEARNT
            words = " ".join(f"{term}^{weight:g}" for term, weight in vector.items())
            logger.info("Words derived from examples: %s", words)

    async def _keep_sample(self) -> None:
        seen = self.sample.seen
        if self._stored != seen:
            try:
                await self.store.put_pages(seen, tuple(self.sample.pages))
            except StorageError as error:
                logger.warning("The sample of judged pages cannot be stored: %s", error)
            self._stored = seen

    async def _learn(self, marks: Sequence[Mark], best: Sequence[Mark]) -> None:
        """Learn from marks, or from the best pages if there are none; judge by that from now on."""
        spider, stats = self.spider, self.crawler.stats
        if not (marks or best or spider.marked):
            return
        asked = request(spider.scorer, marks or best, self.sample.pages, unmarked=not marks)
        learned = await learned_elsewhere(asked)
        if learned is None:
            return
        model = MarkedModel.from_json(spider.scorer, learned) if learned else None
        spider.marked = OnWordScale(model) if model else None
        share = model.classifier.share if model else 0.0
        stats.set_value("topiccrawl/marks", len(marks))
        stats.set_value("topiccrawl/marks/share", share)
        source = f"{len(marks)} marks" if marks else f"{len(best)} pages that score best by words"
        logger.info("%s: the words learned from them decide %.0f %%", source, share * 100)
        if marks and spider.marked and (self._rescoring is None or self._rescoring.done()):
            self._rescoring = asyncio.ensure_future(self._rescore(spider.marked))

    async def _rescore(self, judge: RelevanceModel) -> None:
        """Score stored articles again, beside the crawl."""
        store = articles_of(self.crawler.settings)
        try:
            await store.open()
            try:
                changed = await rescore(store, self.spider.topic.name, judge)
            finally:
                await store.close()
        except (StateError, StorageError) as error:
            logger.warning("Stored articles keep their scores: %s", error)
            return
        logger.info("Scores of %d stored articles follow the marks", changed)


async def learned_elsewhere(asked: str) -> str | None:
    """Return the answer of a learning process, None if it failed; it ends with this coroutine."""
    pipe = asyncio.subprocess.PIPE
    command = (sys.executable, "-m", "topiccrawl.topics.learning")
    process = await asyncio.create_subprocess_exec(
        *command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
    )
    try:
        out, complaint = await process.communicate(asked.encode())
    finally:
        if process.returncode is None:
            process.kill()
    if process.returncode:
        logger.error("Nothing could be learned from marks: %s", complaint.decode()[-500:])
        return None
    return out.decode()
