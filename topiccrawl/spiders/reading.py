"""Responses read as pages: before their callbacks, by readers, or at once in this process."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from scrapy import signals
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response, TextResponse
from scrapy.utils.asyncio import is_asyncio_available

from topiccrawl.extract.extract import ARTICLES, Conditions, Extraction
from topiccrawl.extract.genres import Genre, genres_named
from topiccrawl.extract.missing import is_missing
from topiccrawl.extract.readers import NoReaderError, ReaderError, ReaderLimits, Readers
from topiccrawl.extract.reading import PageReader, RawPage, ReadPage
from topiccrawl.scheduler.hooks import load_component, number

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from topiccrawl.extract.frames import SiteFrame
    from topiccrawl.model import Extracted
    from topiccrawl.topics.contract import RelevanceModel

logger = logging.getLogger(__name__)

PATIENCE = 2.0
"""Seconds that a page waits for pages that came before it; then it goes first."""

_MOST = 4
"""Readers at most, unless a setting asks for more: the crawl's own process is the limit then."""


class _Prepared:
    """A page as readers read it, and its article where it was asked for."""

    def __init__(self, read: ReadPage | None) -> None:
        self.read = read
        self.asked: Conditions | None = None
        self.fetched_at = 0.0
        self.extraction = Extraction()


class UnreadableError(IgnoreRequest):
    """A page that ended its reader, or took too much of it."""

    def __init__(self, error: ReaderError) -> None:
        super().__init__(str(error))
        self.reason = error.reason


class PageReading:
    """Reading of a spider's pages: ``prepare`` before the callback, ``page`` and ``extract`` in it.

    What was not prepared is read in place, and so is an article whose conditions have changed
    since: results are those of a crawl without readers.

    Args:
        reader: Reader of this process.
        readers: Readers beside it, None for none.
        genres: Genres of pages that are articles.

    Attributes:
        open: Pages that are being read.
    """

    def __init__(
        self,
        reader: PageReader,
        readers: Readers | None,
        genres: frozenset[Genre] = ARTICLES,
    ) -> None:
        self.reader = reader
        self.readers = readers
        self.genres = genres
        self._prepared: WeakKeyDictionary[Response, _Prepared] = WeakKeyDictionary()
        self._last: asyncio.Future[None] | None = None
        self.open = 0

    @classmethod
    def of(cls, crawler: Crawler) -> PageReading:
        """Return the reading that the settings ask for.

        Raises:
            SettingError: A setting of readers cannot be used.
            ConfigurationError: TOPICCRAWL_GENRES names no genre.
        """
        settings = crawler.settings
        genres = genres_named(settings.getlist("TOPICCRAWL_GENRES"))

        def count(name: str) -> None:
            crawler.stats.inc_value(f"topiccrawl/readers/{name}")

        readers = pool_of(settings, count)
        if readers is not None:
            crawler.signals.connect(readers.close, signals.spider_closed)
        return cls(reader_of(settings), readers, genres)

    async def prepare(
        self, response: Response, asked: Callable[[ReadPage], Conditions | None]
    ) -> None:
        """Read a page by readers, and its article where it is asked for.

        Returns when the pages before it have been read, so that callbacks run in the order of the
        answers; a page for which the others waited ``PATIENCE`` loses its place.

        Raises:
            UnreadableError: The page takes too much, or ends its reader.
        """
        if self.readers is None or not is_asyncio_available():
            return
        self.open += 1
        before, self._last = self._last, asyncio.get_running_loop().create_future()
        mine = self._last
        try:
            self._prepared[response] = await self._read(self.readers, raw_page(response), asked)
            if before is not None and not before.done():
                await asyncio.wait([before], timeout=PATIENCE)
        except ReaderError as error:
            raise UnreadableError(error) from error
        except NoReaderError as error:
            logger.error("Pages are read in the crawl's own process: %s", error)  # noqa: TRY400
            self.readers = None
        finally:
            self.open -= 1
            mine.set_result(None)

    async def _read(
        self, readers: Readers, raw: RawPage, asked: Callable[[ReadPage], Conditions | None]
    ) -> _Prepared:
        found = _Prepared(await readers.read(raw))
        if found.read is not None and (more := asked(found.read)):
            found.extraction = await readers.extract(raw, more)
            found.asked, found.fetched_at = more, more.fetched_at
        return found

    def page(self, response: Response) -> ReadPage | None:
        """Return a page or a feed; None for other content."""
        prepared = self._prepared.get(response)
        if prepared is None:
            prepared = self._prepared[response] = _Prepared(self.reader.read(raw_page(response)))
        return prepared.read

    def conditions(self, frame: SiteFrame | None = None, *, part: bool = False) -> Conditions:
        """Return the conditions of an extraction now."""
        wanted = None if part else self.genres
        return Conditions(wanted, frame.view() if frame is not None else None, time.time())

    def extract(
        self, response: Response, frame: SiteFrame | None = None, *, part: bool = False
    ) -> Extracted | None:
        """Return the article of a page, from which its site's frame learns.

        It is as prepared, or made now where the frame has changed since.
        """
        prepared = self._prepared.get(response)
        asked = self.conditions(frame, part=part)
        if prepared and prepared.asked == asked._replace(fetched_at=prepared.fetched_at):
            found = prepared.extraction
        else:
            found = self.reader.extract(raw_page(response), asked)
        if frame is not None:
            frame.learn(found.trial, found.body)
        return found.extracted


def may_be_article(read: ReadPage, judge: RelevanceModel) -> bool:
    """Return whether a page looks by now as if its article is wanted."""
    page = read.page
    if page.feed or page.directives.noindex or is_missing(page.title, page.prose):
        return False
    return judge.score_page(page).relevant


def reader_of(settings: BaseSettings) -> PageReader:
    """Return the reader that TOPICCRAWL_READER names, for this process.

    Raises:
        SettingError: It cannot be loaded.
    """
    reader: PageReader = load_component("TOPICCRAWL_READER", settings["TOPICCRAWL_READER"])()
    return reader


def pool_of(settings: BaseSettings, count: Callable[[str], None]) -> Readers | None:
    """Return the readers in other processes; None for none.

    Args:
        settings: TOPICCRAWL_READER and TOPICCRAWL_READERS with their limits.
        count: Called with the name of each event.

    Raises:
        SettingError: A setting of readers cannot be used.
    """
    if not (most := readers_of(settings)):
        return None
    memory = int(number(settings, "TOPICCRAWL_READER_MEMORY"))
    limits = ReaderLimits(memory, number(settings, "TOPICCRAWL_READER_SECONDS"))
    return Readers(most, settings["TOPICCRAWL_READER"], limits, count)


def readers_of(settings: BaseSettings) -> int:
    """Return the number of readers: as set, else the cores less one, from one to four.

    Raises:
        SettingError: TOPICCRAWL_READERS is no number.
    """
    if settings["TOPICCRAWL_READERS"] not in ("", None):
        return int(number(settings, "TOPICCRAWL_READERS"))
    return max(1, min(_MOST, (os.cpu_count() or 1) - 1))


def raw_page(response: Response) -> RawPage:
    """Return a response as readers take it."""
    tags = tuple(robots_tags(response))
    is_text = isinstance(response, TextResponse)
    return RawPage(response.body, response.url, header(response, "Content-Type"), tags, is_text)


def header(response: Response, name: str) -> str | None:
    """Return a header of a response; None if it has none."""
    value = response.headers.get(name)
    return value.decode("latin-1") if value else None


def robots_tags(response: Response) -> list[str]:
    """Return the values of a response's X-Robots-Tag headers."""
    return [value.decode("latin-1") for value in response.headers.getlist("X-Robots-Tag")]
