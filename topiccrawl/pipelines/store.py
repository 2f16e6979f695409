"""Saves articles: an item goes on only after the transaction that holds it is committed."""

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
from topiccrawl.scheduler.finish import CLOSE_REASON
from topiccrawl.scheduler.hooks import components
from topiccrawl.storage.contract import ArticleStore, Fate, StoreListener
from topiccrawl.storage.factory import articles_of
from topiccrawl.storage.group_commit import AGE, SIZE, GroupCommit
from topiccrawl.storage.spool import Spool
from topiccrawl.storage.spooling import SpoolingStore
from topiccrawl.storage.url_journal import UrlJournal

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from topiccrawl.storage.status import State

logger = logging.getLogger(__name__)
_SCRAPER = logging.getLogger("scrapy.core.scraper")

FAILURES = 3
"""Failed items in a row after which the crawl ends: a disk that is full stays full, and pages that
cannot be kept should not be fetched. They stay unacknowledged and are fetched by the next run."""

DAY = 86_400.0
"""Seconds."""

STATS = {
    Fate.NEW: "topiccrawl/articles",
    Fate.UPDATED: "topiccrawl/articles_updated",
    Fate.UNCHANGED: "topiccrawl/articles_unchanged",
    Fate.REPRINT: "topiccrawl/duplicates",
    Fate.FORGOTTEN: "topiccrawl/articles_forgotten",
    Fate.SPOOLED: "topiccrawl/articles_spooled",
}


_KEPT = frozenset({Fate.NEW, Fate.UPDATED, Fate.REPRINT})


class StorePipeline:
    """Saves every ``Article`` and passes it on, with ``reprint_of`` set where it is a reprint.

    New or reprint is decided inside the saving transaction, the only place where two processes
    agree; ``DedupPipeline`` behind this one acts on the answer. Other items pass untouched.
    A failed save is an item error, so the page is not acknowledged.
    """

    def __init__(
        self, crawler: Crawler, store: SpoolingStore, *, size: int = SIZE, age: float = AGE
    ) -> None:
        self._crawler = crawler
        self._context = context_of(crawler)
        self._store = store
        self._group = GroupCommit(store.save, size=size, age=age)
        data = Path(crawler.settings["TOPICCRAWL_DATA_DIR"])
        self._url_journal = UrlJournal(data / "acknowledged")
        self._failures = 0
        self._expiring: asyncio.Task[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> StorePipeline:
        """Read what ``articles_of`` reads, and TOPICCRAWL_STORE_*."""
        settings = crawler.settings
        store = articles_of(settings)
        spool = Spool(Path(settings["TOPICCRAWL_DATA_DIR"]) / "spool")

        def count(stat: str) -> None:
            if crawler.stats is not None:
                crawler.stats.inc_value(stat)

        pipeline = cls(
            crawler,
            SpoolingStore(store, spool, listeners_of(settings, store, count)),
            size=settings.getint("TOPICCRAWL_STORE_GROUP_SIZE", SIZE),
            age=settings.getfloat("TOPICCRAWL_STORE_GROUP_AGE", AGE),
        )
        pipeline._context.status["store"] = pipeline.status
        return pipeline

    def status(self) -> State:
        """Return the articles that wait on disk, and whether the database does not answer."""
        spooled, away = self._store.spool.waiting, self._store.away
        return {"totals": {"spooled": spooled}, "circumstances": {"store_away": away}}

    async def open_spider(self) -> None:
        """Open the store.

        Raises:
            CloseSpider: It cannot be used: the crawl ends before its first request.
        """
        _SCRAPER.addFilter(_brief)
        try:
            await self._store.open()
            await self._recover()
            await self._expire()
            self._expiring = asyncio.create_task(self._expire_daily())
        except TopiccrawlError as error:
            logger.error("%s", error)  # noqa: TRY400  (the operator needs the remedy, not our stack)
            raise CloseSpider(finish_reason(error)) from error

    async def _recover(self) -> None:
        """Fetch again what the store has lost since it was stored."""
        missing = await self._url_journal.missing(self._store.store)
        fetched = self._url_journal.resolve(missing, self._again)
        if missing:
            logger.warning(
                "The store has lost %d articles that were stored (a damaged write-ahead log?): %d"
                " are fetched again, others by the crawls of their topics", len(missing), fetched,
            )  # fmt: skip

    def _again(self, url: str) -> bool:
        """Queue a URL again; return whether this crawl has it. One that waits is not changed."""
        if not self._context.opened:
            return False
        known = False
        with self._context.book.writing() as frontier:
            known = frontier.requeue(url) or frontier.why(url) is not None
        return known  # noqa: RET504 - False where the write failed

    async def _expire(self) -> None:
        """Remove what the topic keeps no longer."""
        topic = self._context.spec.topic
        if topic is not None and topic.retain_days:
            before = time.time() - topic.retain_days * DAY
            gone = await self._store.store.expire(topic.name, before)
            logger.info("%d articles are older than %d days: removed", gone, topic.retain_days)

    async def _expire_daily(self) -> None:
        """Remove them each day, for a crawl that does not end."""
        while True:
            await asyncio.sleep(DAY)
            try:
                await self._expire()
            except StorageError as error:
                logger.error("What is too old stays for a day more: %s", error)  # noqa: TRY400

    async def close_spider(self) -> None:
        """Save what waits and close the store."""
        if self._expiring is not None:
            self._expiring.cancel()
        _SCRAPER.removeFilter(_brief)
        await self._group.close()
        await self._store.close()
        self._url_journal.close()

    async def process_item(self, item: object) -> object:
        """Return the item after the commit.

        Raises:
            StorageError: It was not kept.
            DropItem: It was taken down once; or it is kept, but only a part: the whole follows.
        """
        if isinstance(item, Unfinished):
            for listener in self._store.listeners:
                await listener.article_continues(item.article.url)
            await self._save(item.article)
            raise DropItem(f"a part: {item.article.url} goes on on its next page")
        if not isinstance(item, Article):
            return item
        saved = await self._save(item)
        for listener in self._store.listeners:
            await listener.article_complete(item.url)
        return saved

    async def _save(self, item: Article) -> Article:
        try:
            saved = await self._group.save(item)
        except StorageError as error:
            self._failed(error)
            raise
        self._failures = 0
        if saved.fate in _KEPT:
            self._url_journal.add([item.url])
        self._count(STATS[saved.fate])
        if saved.fate is Fate.FORGOTTEN:
            raise DropItem(f"forgotten: {item.url} or its site was taken down")
        if saved.fate is Fate.REPRINT:
            return replace(item, reprint_of=saved.story)
        if saved.follows:
            self._count("topiccrawl/follow_ups")
        if saved.fate is Fate.NEW:
            for topic in item.topics.keys() - {self._context.spec.name}:  # of a crawl for several
                self._count(f"topiccrawl/topics/{topic}")
        return replace(item, follows=saved.follows)

    def _count(self, stat: str) -> None:
        if self._crawler.stats is not None:
            self._crawler.stats.inc_value(stat)

    def _failed(self, error: StorageError) -> None:
        self._failures += 1
        self._count("topiccrawl/storage_errors")
        if self._failures == FAILURES:
            logger.critical("The crawl ends, articles cannot be stored: %s", error)
            self._context.end(CLOSE_REASON)


def listeners_of(
    settings: BaseSettings, store: ArticleStore, count: Callable[[str], None] = lambda _: None
) -> list[StoreListener]:
    """Build what TOPICCRAWL_STORE_LISTENERS names, in order, without those that are off.

    Args:
        settings: Each listener reads its own.
        store: Where articles stay.
        count: Adds 1 to the stat of a name.

    Raises:
        SettingError: A setting of theirs cannot be used.
    """
    builders = components(settings, "TOPICCRAWL_STORE_LISTENERS")
    built = [build(settings, store, count) for build in builders]
    return [listener for listener in built if listener is not None]


def check_store(settings: BaseSettings) -> None:
    """Raise SettingError if settings of the store, duplicates or listeners cannot be used."""
    listeners_of(settings, articles_of(settings))


def _brief(record: logging.LogRecord) -> bool:
    """Leave the stack out where an article cannot be stored: the message has the remedy."""
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, StorageError):
        record.msg, record.args = f"{record.getMessage()}: {error}", ()
        record.exc_info = None
    return True
