"""Downloaded PDF files become HTML responses; all that follows reads them as pages."""

from __future__ import annotations

import asyncio
import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Self

from scrapy.exceptions import NotConfigured
from scrapy.http import HtmlResponse

from topiccrawl.addons.pdf.page import page_of
from topiccrawl.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

SECONDS = 20
"""Processor time for a file; twice that by the clock."""

AT_ONCE = 1
"""Files read at the same time."""

MAGIC = b"%PDF-"
_CHILD = Path(__file__).with_name("child.py")


class PdfMiddleware:
    """Reads PDF files; other responses, and files that cannot be read, pass untouched.

    Args:
        pages: Pages read of a file.
        most_bytes: Largest file that is read.
        count: Takes the name of a stat.
    """

    def __init__(self, pages: int, most_bytes: int, count: Callable[[str], None]) -> None:
        self._pages = pages
        self._most_bytes = most_bytes
        self._count = count
        self._turn = asyncio.Semaphore(AT_ONCE)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware.

        Raises:
            NotConfigured: If TOPICCRAWL_PDF is off.
        """
        settings, stats = crawler.settings, crawler.stats
        if not settings.getbool("TOPICCRAWL_PDF"):
            raise NotConfigured
        return cls(
            settings.getint("TOPICCRAWL_PDF_PAGES"),
            settings.getint("TOPICCRAWL_PDF_BYTES"),
            lambda name: stats.inc_value(f"topiccrawl/pdf/{name}"),
        )

    async def process_response(self, request: Request, response: Response) -> Response:  # noqa: ARG002
        """Return a page with the file's text, or the response."""
        if not response.body[:1024].lstrip().startswith(MAGIC):
            return response
        if len(response.body) > self._most_bytes:
            self._count("too_large")
            return response
        async with self._turn:
            page = await self._read(response.body)
        self._count("read" if page else "unread")
        if not page:
            return response
        headers = response.headers.copy()
        headers["Content-Type"] = "text/html; charset=utf-8"
        return HtmlResponse(
            response.url, response.status, headers, page.encode("utf-8", "replace"),
            [*response.flags, "pdf"], response.request, encoding="utf-8",
        )  # fmt: skip

    async def _read(self, data: bytes) -> str:
        """Return the page of a file, "" for none."""
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-I", str(_CHILD), str(self._pages), str(SECONDS),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        try:
            said, _ = await asyncio.wait_for(child.communicate(data), 2 * SECONDS)
        except TimeoutError:
            child.kill()
            await child.wait()
            return ""
        if child.returncode:
            return ""
        found = json.loads(said)
        return page_of(found["title"], found["made"], found["lines"])


def check_pdf(settings: BaseSettings) -> None:
    """Raise SettingError if TOPICCRAWL_PDF is on without pypdf, or a bound is below 1."""
    if not settings.getbool("TOPICCRAWL_PDF"):
        return
    if find_spec("pypdf") is None:
        raise SettingError("TOPICCRAWL_PDF needs pypdf: pip install 'topiccrawl[pdf]'")
    for name in ("TOPICCRAWL_PDF_PAGES", "TOPICCRAWL_PDF_BYTES"):
        if settings.getint(name) < 1:
            raise SettingError(f"{name} = {settings[name]}: give 1 or more")
