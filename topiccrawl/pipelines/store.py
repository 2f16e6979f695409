"""Stores articles: an item is passed on only after its transaction is committed."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import CloseSpider, DropItem

from topiccrawl.errors import StorageError, TopiccrawlError, finish_reason
from topiccrawl.model import Article, Unfinished
from topiccrawl.scheduler.context import context_of
from topiccrawl.scheduler.finish import STORE_FAILED
from topiccrawl.scheduler.hooks import components
from topiccrawl.storage.contract import ArticleStore, Fate, StoreListener
from topiccrawl.storage.factory import articles_of
from topiccrawl.storage.pages import Change
from topiccrawl.storage.spool import Spool
from topiccrawl.storage.spooling import GroupCommit, SpoolingStore
from topiccrawl.storage.url_journal import UrlJournal

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from topiccrawl.storage.runs import State

logger = logging.getLogger(__name__)
_SCRAPER = logging.getLogger("scrapy.core.scraper")

FAILURES = 3
"""Consecutive failed items after which the crawl ends: a full disk stays full, and pages that
cannot be stored should not be fetched. They stay unacknowledged and are fetched by the next run."""

DAY = 86_400.0
"""Seconds of a day."""

STATS = {
    Fate.NEW: "topiccrawl/articles",
    Fate.UPDATED: "topiccrawl/articles_updated",
    Fate.UNCHANGED: "topiccrawl/articles_unchanged",
    Fate.REPRINT: "topiccrawl/duplicates",
    Fate.FORGOTTEN: "topiccrawl/articles_forgotten",
    Fate.SPOOLED: "topiccrawl/articles_spooled",
}


_KEPT = frozenset({Fate.NEW, Fate.UPDATED, Fate.REPRINT})
_KNOWN = frozenset({Fate.UPDATED, Fate.UNCHANGED})


class StorePipeline:
    """Stores every ``Article`` and passes it on, with ``reprint_of`` set for a reprint.

    Whether an article is new or a reprint is decided inside the storing transaction, the only place
    where two processes agree; ``DedupPipeline`` uses the result. Other items are passed on
    unchanged. A failed write is an item error, so the page is not acknowledged.
    """

    def __init__(self, crawler: Crawler, store: SpoolingStore) -> None:
        self._count = crawler.stats.inc_value
        self._context = context_of(crawler)
        self._store = store
        self._group = GroupCommit(store.save)
        data = Path(crawler.settings["TOPICCRAWL_DATA_DIR"])
        self._url_journal = UrlJournal(data / "acknowledged")
        self._failures = 0
        self._reported = False
        self._begun: set[str] = set()  # articles whose last page is missing; counted once
        self._expiring: asyncio.Task[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> StorePipeline:
        """Return the pipeline for the settings of ``articles_of`` and of the listeners."""
        settings = crawler.settings
        store = articles_of(settings)
        spool = Spool(Path(settings["TOPICCRAWL_DATA_DIR"]) / "spool")
        listeners = listeners_of(settings, store, crawler.stats.inc_value)
        pipeline = cls(crawler, SpoolingStore(store, spool, listeners))
        pipeline._context.status["store"] = pipeline.status
        return pipeline

    def status(self) -> State:
        """Return the number of spooled articles, and whether the database does not respond."""
        spooled, away = self._store.spool.waiting, self._store.away
        return {"totals": {"spooled": spooled}, "circumstances": {"store_away": away}}

    async def open_spider(self) -> None:
        """Open the store.

        Raises:
            CloseSpider: It cannot be used; the crawl ends before its first request.
        """
        _SCRAPER.addFilter(_without_traceback)
        try:
            await self._store.open()
            await self._recover()
            await self._expire()
            self._expiring = asyncio.create_task(self._expire_daily())
        except TopiccrawlError as error:
            logger.error("%s", error)  # noqa: TRY400  (the operator needs the remedy, not a traceback)
            raise CloseSpider(finish_reason(error)) from error

    async def _recover(self) -> None:
        """Queue articles again that were acknowledged but are missing from the store."""
        lost, fetched = await self._url_journal.recover(self._store.store, self._requeue)
        if lost:
            logger.warning(
                "The store has lost %d articles that were stored (a damaged write-ahead log?): %d"
                " are fetched again, others by the crawls of their topics", lost, fetched,
            )  # fmt: skip

    def _requeue(self, url: str) -> bool:
        """Queue a URL again unless it waits already; return whether this crawl has it."""
        if not self._context.opened:
            return False
        is_known = False
        with self._context.book.writing() as frontier:
            is_known = frontier.requeue(url) or frontier.why(url) is not None
        return is_known  # noqa: RET504 - False where the write failed

    async def _expire(self) -> None:
        """Remove articles older than the topic's retention time."""
        topic = self._context.spec.topic
        if topic is not None and topic.retain_days:
            before = time.time() - topic.retain_days * DAY
            removed = await self._store.store.expire(topic.name, before)
            await self._url_journal.prune(self._store.store)
            logger.info("Removed %d articles older than %d days", removed, topic.retain_days)

    async def _expire_daily(self) -> None:
        """Remove expired articles daily, for a crawl that does not end."""
        while True:
            await asyncio.sleep(DAY)
            try:
                await self._expire()
            except StorageError as error:
                logger.error("Cannot remove expired articles, retrying in a day: %s", error)  # noqa: TRY400

    async def close_spider(self) -> None:
        """Store waiting articles and close the store."""
        if self._expiring is not None:
            self._expiring.cancel()
        _SCRAPER.removeFilter(_without_traceback)
        await self._group.close()
        await self._store.close()
        self._url_journal.close()

    async def process_item(self, item: object) -> object:
        """Return the item after the commit.

        Raises:
            StorageError: It was not stored.
            DropItem: It was removed by an operator before; or it is stored, but only a part of the
                article, and the whole article follows.
        """
        if isinstance(item, Unfinished):
            for listener in self._store.listeners:
                await listener.article_continues(item.article.url)
            await self._save(item.article)
            self._begun.add(item.article.url)
            raise DropItem(f"partial article: {item.article.url} continues on its next page")
        if not isinstance(item, Article):
            self._report_other(item)
            return item
        saved = await self._save(item)
        self._begun.discard(item.url)
        for listener in self._store.listeners:
            await listener.article_complete(item.url)
        return saved

    def _report_other(self, item: object) -> None:
        """Log the first item of a topic crawl that is no article any more."""
        others = self._context.spec.judges is None or isinstance(item, Change)
        if not others and not self._reported:
            self._reported = True
            logger.warning(
                "Items of type %s are not stored: give pipelines that convert articles an order"
                " above 900, and raise DropItem to discard an article", type(item).__name__,
            )  # fmt: skip

    async def _save(self, item: Article) -> Article:
        try:
            saved = await self._group.save(item)
            if saved.fate in _KEPT and saved.recorded:
                self._url_journal.add([item.url])
        except StorageError as error:
            self._failed(error)
            raise
        self._failures = 0
        self._tally(item.url, saved.fate)
        if saved.fate is Fate.FORGOTTEN:
            raise DropItem(f"forgotten: {item.url} or its site was taken down")
        if saved.fate is Fate.REPRINT:
            return replace(item, reprint_of=saved.story)
        if saved.follows:
            self._count("topiccrawl/follow_ups")
        if saved.fate is Fate.NEW:
            for topic in item.topics.keys() - {self._context.spec.name}:  # several topics
                self._count(f"topiccrawl/topics/{topic}")
        return replace(item, follows=saved.follows)

    def _tally(self, url: str, fate: Fate) -> None:
        """Count a saved article, only once if it has several pages."""
        if fate not in _KNOWN or url not in self._begun:
            self._count(STATS[fate])

    def _failed(self, error: StorageError) -> None:
        self._failures += 1
        self._count("topiccrawl/storage_errors")
        if self._failures == FAILURES:
            logger.critical("The crawl ends, articles cannot be stored: %s", error)
            self._context.end(STORE_FAILED)


def listeners_of(
    settings: BaseSettings, store: ArticleStore, count: Callable[[str], None] = lambda _: None
) -> list[StoreListener]:
    """Build the enabled listeners of TOPICCRAWL_STORE_LISTENERS, in order.

    Args:
        settings: Settings, from which each listener reads its own.
        store: Store of the articles.
        count: Adds 1 to the stat of a name.

    Raises:
        SettingError: A setting of a listener cannot be used.
    """
    builders = components(settings, "TOPICCRAWL_STORE_LISTENERS")
    built = [build(settings, store, count) for build in builders]
    return [listener for listener in built if listener is not None]


def check_store(settings: BaseSettings) -> None:
    """Check the settings of the store, duplicates and listeners.

    Raises:
        SettingError: One cannot be used.
    """
    listeners_of(settings, articles_of(settings))


def _without_traceback(record: logging.LogRecord) -> bool:
    """Omit the traceback if an article cannot be stored, since the message has the remedy."""
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, StorageError):
        record.msg, record.args = f"{record.getMessage()}: {error}", ()
        record.exc_info = record.exc_text = None  # PlainRecord has formatted it
    return True
