"""Parsing of responses into pages: by reader processes before the callback, or in this process."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from typing import TYPE_CHECKING, Protocol
from weakref import WeakKeyDictionary

from scrapy import signals
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response, TextResponse

from topiccrawl.extract.article import page_of
from topiccrawl.extract.extract import Conditions, Extraction
from topiccrawl.extract.genres import genres_named
from topiccrawl.extract.missing import is_missing
from topiccrawl.extract.readers import NoReaderError, ReaderError, ReaderLimits, Readers
from topiccrawl.extract.reading import PageReader, RawPage, ReadPage
from topiccrawl.model import CHALLENGE, Extracted, Page
from topiccrawl.scheduler.hooks import load_component, number
from topiccrawl.topics.scorer import record_all

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from topiccrawl.extract.frames import LearningFrame
    from topiccrawl.topics.contract import RelevanceModel
    from topiccrawl.topics.scorer import Scorer

logger = logging.getLogger(__name__)

PATIENCE = 2.0
"""Seconds that a page waits for earlier pages; after that it overtakes them."""

MAX_AGAIN = 200_000
"""Most bytes of a page whose article this process extracts again if its conditions have changed."""

_MAX_READERS = 4
"""Default maximum of reader processes. With more, the process of the crawl is the bottleneck."""


class _Prepared:
    """Page parsed by a reader, and its article if it was requested."""

    def __init__(self, read: ReadPage | None) -> None:
        self.read = read
        self.asked: Conditions | None = None
        self.fetched_at = 0.0
        self.extraction = Extraction()


class UnreadableError(IgnoreRequest):
    """Page that crashed its reader or exceeded a limit of the reader."""

    def __init__(self, error: ReaderError) -> None:
        super().__init__(str(error))
        self.reason = error.reason


class ChallengeError(IgnoreRequest):
    """Check of the visitor (访问过于频繁, a captcha) in place of the page; retried later.

    Args:
        url: URL of the page.
    """

    reason = CHALLENGE
    retry = True

    def __init__(self, url: str) -> None:
        super().__init__(f"{url}: the site checks its visitor and does not show the page")


class Rendering(Protocol):
    """Decision per site whether its blank pages are rendered in a browser."""

    def wants(self, url: str) -> bool:
        """Return whether a blank page of this URL's site is to be rendered."""

    def observe(self, url: str, *, article: bool) -> None:
        """Record whether a rendered page was an article."""


class PageReading:
    """Parsing of a spider's pages: ``prepare`` before the callback, ``page`` and ``extract`` in it.

    Pages that were not prepared, and articles whose conditions have changed since, are parsed in
    this process. The results are the same as without reader processes.

    Args:
        crawler: Crawler of the spider.

    Attributes:
        reader: Reader of this process.
        readers: Pool of reader processes, or None.
        genres: Genres of pages that count as articles.
        open: Number of pages that readers are parsing.

    Raises:
        SettingError: If a setting of readers cannot be used.
        ConfigurationError: If TOPICCRAWL_GENRES has an unknown genre.
    """

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings

        def count(name: str) -> None:
            crawler.stats.inc_value(f"topiccrawl/readers/{name}")

        self.reader = reader_of(settings)
        self.readers = pool_of(settings, count)
        self.genres = genres_named(settings.getlist("TOPICCRAWL_GENRES"))
        if self.readers is not None:
            crawler.signals.connect(self.readers.close, signals.spider_closed)
        self._prepared: WeakKeyDictionary[Response, _Prepared] = WeakKeyDictionary()
        self._last: asyncio.Future[None] | None = None
        self.open = 0

    async def prepare(
        self,
        response: Response,
        asked: Callable[[ReadPage], Conditions | None],
        scorers: Sequence[Scorer] = (),
    ) -> None:
        """Parse a page in a reader process; extract its article if ``asked`` returns conditions.

        Returns after the earlier pages have been parsed, so that callbacks run in the order of the
        responses. Other pages wait at most ``PATIENCE`` seconds for a slow one.

        Raises:
            UnreadableError: If the page exceeds a limit, or crashes its reader.
        """
        readers = self.readers
        if readers is None:
            return
        self.open += 1
        before, self._last = self._last, asyncio.get_running_loop().create_future()
        mine = self._last
        try:
            raw = raw_page(response)
            words = [scorer.vocabulary for scorer in scorers]
            found = _Prepared(read := await readers.read(raw, words))
            if read is not None:
                record_all(scorers, words, read.page, read.measures)
            if read is not None and (more := asked(read)):
                found.extraction = await readers.extract(raw, more, words)
                found.asked, found.fetched_at = more, more.fetched_at
                if (article := found.extraction.extracted) is not None:
                    measures = found.extraction.measures
                    record_all(scorers, words, page_of(article, read.page), measures)
            self._prepared[response] = found
            if before is not None and not before.done():
                await asyncio.wait([before], timeout=PATIENCE)
        except ReaderError as error:
            raise UnreadableError(error) from error
        except NoReaderError as error:
            logger.error("Parsing pages in the crawl's own process: %s", error)  # noqa: TRY400
            self.readers = None
        finally:
            self.open -= 1
            mine.set_result(None)

    def is_read(self, response: Response) -> bool:
        """Return whether a response has been parsed."""
        return response in self._prepared

    def page(self, response: Response) -> ReadPage | None:
        """Return a page or a feed; None for other content."""
        prepared = self._prepared.get(response)
        if prepared is None:
            prepared = self._prepared[response] = _Prepared(self.reader.read(raw_page(response)))
        return prepared.read

    def conditions(self, frame: LearningFrame | None = None, *, part: bool = False) -> Conditions:
        """Return the conditions of an extraction at the current time."""
        wanted = None if part else self.genres
        return Conditions(wanted, frame.view() if frame is not None else None, time.time())

    def extract(
        self, response: Response, frame: LearningFrame | None = None, *, part: bool = False
    ) -> Extracted | None:
        """Return the article of a page, and update the frame of its site.

        The prepared article is used unless the frame has changed since and the page is small.
        """
        prepared = self._prepared.get(response)
        asked = self.conditions(frame, part=part)
        if (
            prepared
            and prepared.asked
            and (
                len(response.body) > MAX_AGAIN
                or prepared.asked == asked._replace(fetched_at=prepared.fetched_at)
            )
        ):
            found = prepared.extraction
        else:
            found = self.reader.extract(raw_page(response), asked)
        if frame is not None:
            frame.learn(found.trial, found.body)
        return found.extracted


def may_be_article(page: Page, judge: RelevanceModel) -> bool:
    """Return whether the article of a page will probably be needed."""
    if page.feed or page.directives.noindex or is_missing(page.title, page.prose):
        return False
    return judge.score_page(page).relevant


def reader_of(settings: BaseSettings) -> PageReader:
    """Return the reader that TOPICCRAWL_READER names, for this process.

    Raises:
        SettingError: If it cannot be loaded.
    """
    reader: PageReader = load_component("TOPICCRAWL_READER", settings["TOPICCRAWL_READER"])()
    return reader


def pool_of(settings: BaseSettings, count: Callable[[str], None]) -> Readers | None:
    """Return the pool of reader processes, or None if their number is 0.

    By default their number is that of the cores less one, in [1, 4].

    Args:
        settings: Settings with TOPICCRAWL_READER, TOPICCRAWL_READERS and the limits of readers.
        count: Called with the name of each event.

    Raises:
        SettingError: If a setting of readers cannot be used.
    """
    size = max(1, min(_MAX_READERS, (os.cpu_count() or 1) - 1))
    if settings["TOPICCRAWL_READERS"] not in ("", None):
        size = int(number(settings, "TOPICCRAWL_READERS"))
    if not size:
        return None
    memory = int(number(settings, "TOPICCRAWL_READER_MEMORY"))
    limits = ReaderLimits(memory, number(settings, "TOPICCRAWL_READER_SECONDS"))
    return Readers(size, settings["TOPICCRAWL_READER"], limits, count)


def raw_page(response: Response) -> RawPage:
    """Convert a response to the input of readers."""
    tags = tuple(robots_tags(response))
    is_text = isinstance(response, TextResponse)
    return RawPage(response.body, response.url, header(response, "Content-Type"), tags, is_text)


def header(response: Response, name: str) -> str | None:
    """Return the value of a header of a response, or None."""
    value = response.headers.get(name)
    return value.decode("latin-1") if value else None


def robots_tags(response: Response) -> list[str]:
    """Return the values of a response's X-Robots-Tag headers."""
    return [value.decode("latin-1") for value in response.headers.getlist("X-Robots-Tag")]
