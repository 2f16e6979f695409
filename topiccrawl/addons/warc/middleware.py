"""Downloader middlewares that archive responses, except pages that forbid copies."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from typing import TYPE_CHECKING, Self

from scrapy import Request, signals
from scrapy.exceptions import NotConfigured
from scrapy.http import Response, TextResponse

from topiccrawl.errors import SettingError, StorageError
from topiccrawl.links.page import read_page
from topiccrawl.links.reading import directives
from topiccrawl.scheduler.checks import check_folder
from topiccrawl.spiders.reading import header, robots_tags
from topiccrawl.text.decode import decode

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler
    from scrapy.http.headers import Headers
    from scrapy.settings import BaseSettings

    from topiccrawl.addons.warc.archive import Archive, Exchange

logger = logging.getLogger(__name__)

_MAY_REFUSE = re.compile(rb"noarchive|nocache|[\"',\s]none\b", re.IGNORECASE)
"""Words of pages that forbid copies; a page without them is not parsed for directives."""

REDIRECTS = range(300, 400)


class ArchiveMiddleware:
    """Archives responses after Scrapy has decompressed them.

    Args:
        archive: Archive to write to; it is opened here.
        count: Increments the stat of this name.
    """

    redirects = False
    """True: archive only redirects. False: archive only other responses."""

    def __init__(self, archive: Archive, count: Callable[[str], None]) -> None:
        self._archive = archive
        self._count = count
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="archive")
        archive.open()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Create the middleware.

        Raises:
            NotConfigured: If WARC_DIR is empty.
            SettingError: If the folder cannot be used, or warcio is not installed.
        """
        settings = crawler.settings
        if not settings.get("WARC_DIR"):
            raise NotConfigured
        check_archive(settings)
        from topiccrawl.addons.warc.archive import SIZE, Archive

        archive = Archive(settings["WARC_DIR"], size=settings.getint("WARC_SIZE", SIZE))
        stats = crawler.stats
        middleware = cls(archive, lambda name: stats.inc_value(f"topiccrawl/archive/{name}"))
        crawler.signals.connect(middleware.close, signals.spider_closed)
        return middleware

    async def process_response(self, request: Request, response: Response) -> Response:
        """Archive the response; a disk error is logged and counted."""
        if (response.status in REDIRECTS and "Location" in response.headers) != self.redirects:
            return response
        if _refused(response):
            self._count("refused")
            return response
        exchange = _exchange(request, response, time.time())
        loop = asyncio.get_running_loop()
        try:
            written = await loop.run_in_executor(self._thread, self._archive.write, exchange)
        except StorageError as error:
            self._count("failed")
            logger.error(  # noqa: TRY400 - it has the remedy
                "%s was not archived: %s; free disk space or allow writing there: the crawl goes on"
                " without copies of such pages", response.url, error,
            )  # fmt: skip
        else:
            self._count("written" if written else "forgotten")
        return response

    async def close(self) -> None:
        """Complete the open file."""
        await asyncio.to_thread(self._thread.shutdown)
        try:
            await asyncio.to_thread(self._archive.close)
        except StorageError as error:
            logger.error("The next crawl will complete the archive: %s", error)  # noqa: TRY400


class RedirectArchiveMiddleware(ArchiveMiddleware):
    """Archives redirects before Scrapy follows them."""

    redirects = True


def check_archive(settings: BaseSettings) -> None:
    """Create the folder of WARC_DIR.

    Raises:
        SettingError: If it cannot be written, or warcio is not installed.
    """
    if settings.get("WARC_DIR") and find_spec("warcio") is None:
        raise SettingError("WARC_DIR needs warcio: pip install 'topiccrawl[warc]'")
    check_folder(settings, "WARC_DIR")


def _refused(response: Response) -> bool:
    """Return whether the page or its headers forbid copies (noarchive)."""
    tags = robots_tags(response)
    if directives((), tags).noarchive:
        return True
    if not isinstance(response, TextResponse) or not _MAY_REFUSE.search(response.body):
        return False
    decoded = decode(response.body, header(response, "Content-Type"))
    return read_page(decoded.text, response.url, tags, decoded.encoding).directives.noarchive


def _exchange(request: Request, response: Response, now: float) -> Exchange:
    from topiccrawl.addons.warc.archive import Exchange

    return Exchange(
        response.url,
        now,
        request.method,
        _lines(request.headers),
        response.status,
        _lines(response.headers),
        response.body,
        request.body,
    )


def _lines(headers: Headers) -> tuple[tuple[str, str], ...]:
    """Return headers as text; names, unlike values, must be ASCII in WARC files."""
    return tuple(
        (name.decode("ascii", "backslashreplace"), value.decode("latin-1"))
        for name, values in headers.items()
        for value in values
    )
