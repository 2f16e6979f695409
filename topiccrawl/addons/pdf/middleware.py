"""Downloaded PDF files become HTML responses; all that follows reads them as pages."""

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
    from collections.abc import Callable, Iterator, Sequence

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

SECONDS = 20
"""Processor time for a file; twice that by the clock."""

AT_ONCE = 1
"""Files read at the same time."""

MAGIC = b"%PDF-"
_CHILD = Path(__file__).with_name("child.py")

REPEATED = 3
"""Pages that must have a line before it is a header or footer."""

EDGE = 2
"""Lines at the top and the bottom of a page that may be its header or footer."""

TOP = 10
"""First lines that may be parts of the headline."""

PROBE = 2_000
"""Characters by which a file is found to be garbled."""

SCRIPTS, RARE = 5, 50
"""Most scripts of a text, and the share of letters (one in so many) from which a script counts."""

UNKNOWN = 20
"""One unknown character in so many is too many."""

HEAD = 600
"""Characters at the top where a date is looked for, before the file's own is taken."""

_PAGE_NUMBER = re.compile(
    r"\W*(?:第?\s*\d{1,4}\s*页?|page \d+(?: of \d+)?|\d+\s*/\s*\d+)\W*", re.IGNORECASE
)
_NUMBER = re.compile(r"\d+")
_DATE = re.compile(r"(?:19|20)\d\d\s*[年./-]\s*\d{1,2}|\b\d{1,2}[./ ]\w{1,9}[./ ](?:19|20)\d\d")
_MADE_BY = re.compile(
    r"^(?:microsoft (?:word|powerpoint|excel) - |untitled|(?=\S*[\d_.])[!-~]+$)|\.\w{3,4}$|"
    r"^(?!.*[^\W\d_]{3})(?!.*[\u3040-\u9fff\uac00-\ud7af])",
    re.IGNORECASE,
)
"""A title that a program made of a file's name: without blanks, or without any word."""
_LIGATURE = re.compile("[\u2e80-\u2fdf\ufb00-\ufb06]")
"""Letters drawn as one, and radicals that stand for Chinese characters."""
_END = re.compile(r"[。！？!?.:：”\"]$")
_SHORT = 0.7
"""Share of the usual length of a line below which a line ends its paragraph."""


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
        return page_of(found["title"], found["made"], found["lines"], found["largest"])


def check_pdf(settings: BaseSettings) -> None:
    """Raise SettingError if TOPICCRAWL_PDF is on without pypdf, or a bound is below 1."""
    if not settings.getbool("TOPICCRAWL_PDF"):
        return
    if find_spec("pypdf") is None:
        raise SettingError("TOPICCRAWL_PDF needs pypdf: pip install 'topiccrawl[pdf]'")
    for name in ("TOPICCRAWL_PDF_PAGES", "TOPICCRAWL_PDF_BYTES"):
        if settings.getint(name) < 1:
            raise SettingError("{name} = {value}: give 1 or more", name=name, value=settings[name])


def page_of(title: str, made: str, pages: Sequence[Sequence[str]], largest: str = "") -> str:
    """Return an HTML page; "" where there is no text, or none that can be read.

    Args:
        title: The title that the file states.
        made: Its day, ISO or "".
        pages: Lines of each page.
        largest: Text in the largest type of the first page.

    >>> page = page_of("", "2026-09-14", [["Bridge closes", "It is closed.", "1"]])
    >>> "<h1>Bridge closes</h1>" in page, "2026-09-14" in page, "<p>1</p>" in page
    (True, True, False)
    """
    lines = _lines(pages)
    if not lines or is_garbled("".join(lines)[:PROBE]):
        return ""
    headline = "" if _MADE_BY.search(title.strip()) else _plain(title)
    headline = headline or _joined(_lines([largest.splitlines()])) or lines[0]
    known = fold(headline)
    lines = [line for number, line in enumerate(lines) if number >= TOP or fold(line) not in known]
    dated = made and not _DATE.search("\n".join((headline, *lines))[:HEAD])
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
    stripped = [list(filter(None, map(_plain, page))) for page in pages]
    seen = Counter(line for page in stripped for line in set(page))
    ends = Counter(line for page in stripped for line in {*map(_masked, _ends(page))})
    return [
        line
        for page in stripped
        for number, line in enumerate(page)
        if seen[line] < REPEATED
        and not _PAGE_NUMBER.fullmatch(line)
        and not (_at_end(number, page) and ends[_masked(line)] >= REPEATED)
    ]


def _ends(page: Sequence[str]) -> list[str]:
    return [line for number, line in enumerate(page) if _at_end(number, page)]


def _at_end(number: int, page: Sequence[str]) -> bool:
    """Return whether a line is one of the first or last two of a page: a header or a footer."""
    return number < EDGE or number >= len(page) - EDGE


def _masked(line: str) -> str:
    """Return a line with a mark for each number: headers count pages; rows of tables differ."""
    return _NUMBER.sub("#", line) if any(map(str.isalpha, line)) else line


def _plain(text: str) -> str:
    """Return a line with blanks folded and single letters for ligatures and radicals."""
    whole = _LIGATURE.sub(lambda one: unicodedata.normalize("NFKC", one[0]), text)
    return " ".join(whole.replace("\xad", "").split())


def is_garbled(text: str) -> bool:
    """Return whether letters are not those that the file shows: its fonts do not name them.

    >>> is_garbled("第一节 Shenzhen データ Ω"), is_garbled("ୈ ࡾ߸தủؚΉỐθỨΛ ͖ỏҎԼ͜ͷ৚ʹ͓")
    (False, True)
    """
    names = Counter(unicodedata.name(one, "").split(" ")[0] for one in text if one.isalpha())
    scripts = sum(number * RARE >= names.total() for number in names.values())
    unknown = sum(not one.isprintable() or one == "\ufffd" for one in text)
    return scripts > SCRIPTS or unknown * UNKNOWN > len(text)


def _paragraphs(lines: Sequence[str]) -> Iterator[str]:
    """Join lines that are broken where the page ends."""
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
