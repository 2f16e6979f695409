"""Downloader middleware that converts PDF files to HTML responses."""

from __future__ import annotations

import asyncio
import html
import json
import re
import sys
import unicodedata
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Self

from scrapy.exceptions import NotConfigured
from scrapy.http import HtmlResponse, Response

from topiccrawl.errors import SettingError
from topiccrawl.text.digest import fold
from topiccrawl.text.normal import has_han

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

CPU_SECONDS = 20
"""CPU time limit per file, in seconds; the wall-clock limit is twice as long."""

CONCURRENCY = 1
"""Number of files read concurrently."""

MAGIC = b"%PDF-"
_CHILD = Path(__file__).with_name("child.py")

MIN_REPEATS = 3
"""Number of pages with a line from which it counts as a header or footer."""

EDGE_LINES = 2
"""Number of lines at the top and the bottom of a page that may be a header or footer."""

TOP_LINES = 10
"""Number of first lines that may be parts of the headline."""

SAMPLE_CHARS = 2_000
"""Number of characters checked for garbled text."""

SCRIPTS, RARE = 5, 50
"""Maximum number of scripts in a text; a script counts from one in ``RARE`` letters."""

UNKNOWN_RATIO = 20
"""Minimum number of characters per unknown character."""

DATE_CHARS = 600
"""Number of characters at the top searched for a date before the file's own date is used."""

_PAGE_NUMBER = re.compile(
    r"\W*(?:第?\s*\d{1,4}\s*页?|page \d+(?: of \d+)?|\d+\s*/\s*\d+)\W*", re.IGNORECASE
)
_NUMBER = re.compile(r"\d+")
_DATE = re.compile(r"(?:19|20)\d\d\s*[年./-]\s*\d{1,2}|\b\d{1,2}[./ ]\w{1,9}[./ ](?:19|20)\d\d")
_GENERATED_TITLE = re.compile(
    r"^(?:microsoft (?:word|powerpoint|excel) - |untitled|(?=\S*[\d_.])[!-~]+$)|\.\w{3,4}$|"
    r"^(?!.*[^\W\d_]{3})(?!.*[\u3040-\u9fff\uac00-\ud7af])",
    re.IGNORECASE,
)
"""A title that a program generated from a file name: without spaces or without words."""
_LIGATURE = re.compile("[\u2e80-\u2fdf\ufb00-\ufb06]")
"""Ligatures, and radicals used instead of Chinese characters."""
_END = re.compile(r"[。！？!?.:：”\"]$")
_SHORT = 0.7
"""Fraction of the usual line length below which a line ends its paragraph."""


class PdfMiddleware:
    """Converts PDF files to HTML; other responses and unreadable files are passed on unchanged."""

    def __init__(self, crawler: Crawler) -> None:
        self._stats = crawler.stats
        self._pages = crawler.settings.getint("TOPICCRAWL_PDF_PAGES")
        self._most_bytes = crawler.settings.getint("TOPICCRAWL_PDF_BYTES")
        self._slots = asyncio.Semaphore(CONCURRENCY)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Return the middleware.

        Raises:
            NotConfigured: If TOPICCRAWL_PDF is off.
        """
        if not crawler.settings.getbool("TOPICCRAWL_PDF"):
            raise NotConfigured
        return cls(crawler)

    async def process_response(self, request: Request, response: Response) -> Response:  # noqa: ARG002
        """Return an HTML response with the text of a PDF file, or the original response."""
        if not response.body[:1024].lstrip().startswith(MAGIC):
            return response
        page, outcome = "", "too_large"
        if len(response.body) <= self._most_bytes:
            async with self._slots:
                page = await self._read(response.body)
            outcome = "read" if page else "unread"
        self._stats.inc_value(f"topiccrawl/pdf/{outcome}")
        if not page:
            return response
        headers = response.headers.copy()
        headers["Content-Type"] = "text/html; charset=utf-8"
        return HtmlResponse(
            response.url, response.status, headers, page.encode("utf-8", "replace"),
            [*response.flags, "pdf"], response.request, encoding="utf-8",
        )  # fmt: skip

    async def _read(self, data: bytes) -> str:
        """Return the HTML page of a file; "" if it cannot be read."""
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-I", str(_CHILD), str(self._pages), str(CPU_SECONDS),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        try:
            output, _ = await asyncio.wait_for(child.communicate(data), 2 * CPU_SECONDS)
        except TimeoutError:
            child.kill()
            await child.wait()
            return ""
        if child.returncode:
            return ""
        found = json.loads(output)
        return page_of(found["title"], found["made"], found["lines"], found["largest"])


def check_pdf(settings: BaseSettings) -> None:
    """Raise SettingError if TOPICCRAWL_PDF is on without pypdf, or a limit is below 1."""
    if not settings.getbool("TOPICCRAWL_PDF"):
        return
    if find_spec("pypdf") is None:
        raise SettingError("TOPICCRAWL_PDF requires pypdf: pip install 'topiccrawl[pdf]'")
    for name in ("TOPICCRAWL_PDF_PAGES", "TOPICCRAWL_PDF_BYTES"):
        if settings.getint(name) < 1:
            raise SettingError("{name} = {value}: set 1 or more", name=name, value=settings[name])


def page_of(title: str, made: str, pages: Sequence[Sequence[str]], largest: str = "") -> str:
    """Return the text of a PDF file as an HTML page; "" if it has no readable text.

    Args:
        title: Title in the file's metadata.
        made: Creation date in ISO format, or "".
        pages: Lines of each page.
        largest: Text of the first page in its largest font.

    >>> page = page_of("", "2026-09-14", [["Bridge closes", "It is closed.", "1"]])
    >>> "<h1>Bridge closes</h1>" in page, "2026-09-14" in page, "<p>1</p>" in page
    (True, True, False)
    """
    lines = _lines(pages)
    if not lines or is_garbled("".join(lines)[:SAMPLE_CHARS]):
        return ""
    headline = "" if _GENERATED_TITLE.search(title.strip()) else _clean(title)
    headline = headline or _joined(_lines([largest.splitlines()])) or lines[0]
    known = fold(headline)
    lines = [
        line for number, line in enumerate(lines) if number >= TOP_LINES or fold(line) not in known
    ]
    dated = made and not _DATE.search("\n".join((headline, *lines))[:DATE_CHARS])
    time = f'<meta property="article:published_time" content="{made}">' if dated else ""
    body = "".join(f"<p>{html.escape(part)}</p>\n" for part in _paragraphs(lines))
    name = html.escape(headline)
    return (
        f'<!doctype html><html><head><meta charset="utf-8"><title>{name}</title>'
        f'<meta property="og:type" content="article">{time}</head>'
        f"<body><article><h1>{name}</h1>\n{body}</article></body></html>"
    )


def _lines(pages: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines without page numbers, headers and footers."""
    stripped = [list(filter(None, map(_clean, page))) for page in pages]
    seen = Counter(line for page in stripped for line in set(page))
    ends = Counter(line for page in stripped for line in {*map(_masked, _ends(page))})
    return [
        line
        for page in stripped
        for number, line in enumerate(page)
        if seen[line] < MIN_REPEATS
        and not _PAGE_NUMBER.fullmatch(line)
        and not (_at_end(number, page) and ends[_masked(line)] >= MIN_REPEATS)
    ]


def _ends(page: Sequence[str]) -> list[str]:
    return [line for number, line in enumerate(page) if _at_end(number, page)]


def _at_end(number: int, page: Sequence[str]) -> bool:
    """Return whether a line is one of the first or last lines of a page."""
    return number < EDGE_LINES or number >= len(page) - EDGE_LINES


def _masked(line: str) -> str:
    """Replace the numbers of a line by ``#``, since headers may contain page numbers."""
    return _NUMBER.sub("#", line) if any(map(str.isalpha, line)) else line


def _clean(text: str) -> str:
    """Collapse whitespace; replace ligatures and radicals by single letters."""
    whole = _LIGATURE.sub(lambda one: unicodedata.normalize("NFKC", one[0]), text)
    return " ".join(whole.replace("\xad", "").split())


def is_garbled(text: str) -> bool:
    """Return whether a text is garbled, because the fonts do not map glyphs to Unicode.

    >>> is_garbled("第一节 Shenzhen データ Ω"), is_garbled("ୈ ࡾ߸தủؚΉỐθỨΛ ͖ỏҎԼ͜ͷ৚ʹ͓")
    (False, True)
    """
    names = Counter(unicodedata.name(one, "").split(" ")[0] for one in text if one.isalpha())
    scripts = sum(number * RARE >= names.total() for number in names.values())
    unknown = sum(not one.isprintable() or one == "\ufffd" for one in text)
    return scripts > SCRIPTS or unknown * UNKNOWN_RATIO > len(text)


def _paragraphs(lines: Sequence[str]) -> Iterator[str]:
    """Yield paragraphs, joined from broken lines."""
    usual = sorted(map(len, lines))[len(lines) * 3 // 4] if lines else 0
    parts: list[str] = []
    for line in lines:
        parts.append(line)
        if _END.search(line) or len(line) < _SHORT * usual:
            yield _joined(parts)
            parts = []
    if parts:
        yield _joined(parts)


def _joined(parts: Sequence[str]) -> str:
    text = parts[0] if parts else ""
    for part in parts[1:]:
        if text.endswith("-"):
            text = text[:-1] + part
        else:
            text += part if has_han(text[-1] + part[0]) else f" {part}"
    return text
