"""Extraction of articles from archived pages with the current rules."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import deque
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from topiccrawl import __version__
from topiccrawl.addons.warc.warc import rewritten
from topiccrawl.extract.article import Fetch, compose, page_of
from topiccrawl.extract.extract import ARTICLES, Conditions
from topiccrawl.extract.missing import is_missing
from topiccrawl.extract.pagination import joined, pager_of
from topiccrawl.extract.readers import ReaderError, Readers
from topiccrawl.extract.reading import LocalReader, RawPage, ReadPage
from topiccrawl.links.urls import canonical

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterable
    from pathlib import Path

    from topiccrawl.addons.warc.archive import Exchange
    from topiccrawl.model import Article, Extracted, Page
    from topiccrawl.storage.contract import ArticleStore
    from topiccrawl.topics import Scorer, SiteWords
    from topiccrawl.topics.topic import Topic

logger = logging.getLogger(__name__)

OK = 200
MAX_PARTS = 20
"""Maximum number of pages of one article."""

CONCURRENCY = 16
"""Number of pages that are read concurrently."""


class _Archived(NamedTuple):
    """An archived page as it was received, as it was read, and its time.

    Attributes:
        raw: Bytes and headers.
        read: Result of the reader.
        at: Time of the response, seconds since the epoch.
    """

    raw: RawPage
    read: ReadPage
    at: float


class _Prepared(NamedTuple):
    """A page that was read concurrently with others, before it is judged in order.

    Attributes:
        url: Its URL.
        found: The archived page.
        page: The page that is judged.
        parts: Its article and later pages, empty if there is none; None if it looked irrelevant.
    """

    url: str
    found: _Archived
    page: Page
    parts: list[Extracted] | None


class Reextraction:
    """Extracts a topic's articles from archived pages, by the same rules as a crawl.

    Args:
        page: Returns the archived response of a URL, also of the later pages of articles.
        scorer: Scorer of pages and articles, for their topic.
        readers: Readers of the pages.
        store: Store of the articles, which knows what the links to them predicted; None to judge
            pages by their words alone.
    """

    def __init__(
        self,
        page: Callable[[str], Exchange | None],
        scorer: Scorer,
        readers: Readers | LocalReader,
        store: ArticleStore | None = None,
    ) -> None:
        self._page = page
        self._topic = scorer.topic
        self._scorer = scorer
        self._readers = readers
        self._store = store

    async def articles(self, urls: Iterable[str]) -> AsyncGenerator[Article | None]:
        """Yield the article of each page in order; None if a crawl would store none.

        Pages are read concurrently, and judged in order: weights by site depend on earlier pages.
        """
        remaining = iter(urls)
        first = islice(remaining, CONCURRENCY)
        tasks = deque(asyncio.create_task(self._prepare(url)) for url in first)
        try:
            while tasks:
                prepared = await tasks.popleft()
                tasks.extend(
                    asyncio.create_task(self._prepare(url)) for url in islice(remaining, 1)
                )
                yield await self._judge(prepared) if prepared is not None else None
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _prepare(self, url: str) -> _Prepared | None:
        """Read a page, and its article if the page looks relevant; None if it cannot be read."""
        found = await self._read(url)
        if found is None:
            return None
        page = found.read.page._replace(expected=await self._expected(url))
        return _Prepared(url, found, page, await self._parts(found) if self._wants(page) else None)

    async def _judge(self, prepared: _Prepared) -> Article | None:
        """Return the article of a page and its later pages; None if a crawl would store none."""
        url, found, page, parts = prepared
        wanted = self._wants(page)
        self._scorer.observe(page)
        if wanted and parts is None:
            parts = await self._parts(found)
        if not (wanted and parts):
            return None
        extracted, *later = parts
        verdict = self._scorer.score_page(page_of(extracted, page))
        if not verdict.relevant or not self._topic.wants(extracted.published):
            return None
        fetch = Fetch(canonical(url) or url, found.at, 0, found.read.encoding)
        article = compose(extracted, fetch, page, self._topic.name, verdict)
        for part in later:
            article = joined(article, part.body, part.images)
        return article

    def _wants(self, page: Page) -> bool:
        relevant = self._scorer.score_page(page).relevant and not page.directives.noindex
        return relevant and not pager_of(page.url, page.links).first

    async def _expected(self, url: str) -> float | None:
        story = await self._store.get(url) if self._store is not None else None
        return story.article.expected_for(self._topic.name) if story is not None else None

    async def _parts(self, found: _Archived) -> list[Extracted]:
        """Return the article on a page and the texts of its archived later pages, if any."""
        extracted = await self._extract(found, part=False)
        if extracted is None:
            return []
        parts, page = [extracted], found.read.page
        known = {page.url}
        for _ in range(MAX_PARTS - 1):
            after = pager_of(page.url, page.links).next
            later = await self._read(after) if after not in known else None
            if later is None:
                break
            page = later.read.page
            known.add(page.url)
            extracted = await self._extract(later, part=True)
            parts += [extracted] if extracted is not None else []
        return parts

    async def _read(self, url: str) -> _Archived | None:
        """Return an archived HTML page, or None if there is none to read."""
        exchange = self._page(url)
        if exchange is None or exchange.status != OK:
            return None
        kind = next((v for k, v in exchange.headers if k.lower() == "content-type"), "text/html")
        if "html" not in kind.lower():
            return None
        tags = tuple(v for k, v in exchange.headers if k.lower() == "x-robots-tag")
        raw = RawPage(exchange.body, url, kind, tags)
        try:
            read = await self._readers.read(raw)
        except ReaderError as error:
            logger.warning("%s", error)
            return None
        if read is None or read.page.feed or is_missing(read.page.title, read.page.prose):
            return None
        return _Archived(raw, read, exchange.at)

    async def _extract(self, found: _Archived, *, part: bool) -> Extracted | None:
        asked = Conditions(None if part else ARTICLES, fetched_at=found.at)
        try:
            return (await self._readers.extract(found.raw, asked)).extracted
        except ReaderError as error:
            logger.warning("%s", error)
            return None


class FilesDone:
    """Files whose articles are stored, so that an interrupted extraction can continue.

    A file is done as long as the file, the topic and the version of the program are the same.

    Args:
        path: File in which the names are stored between runs.
        topic: Topic of the articles.
        sites: Counts of the topic's words by site, which continue with those of the files; None for
            no counts.
        fresh: Whether to ignore the stored names.
    """

    def __init__(
        self, path: Path, topic: Topic, sites: SiteWords | None = None, *, fresh: bool = False
    ) -> None:
        self._path = path
        self._sites = sites
        self._rules = [__version__, topic.digest]
        known = {} if fresh or not path.exists() else json.loads(path.read_text("utf-8"))
        same_rules = known.get("rules") == self._rules
        self._done: list[list[str | int]] = known["files"] if same_rules else []
        if sites is not None and same_rules:
            sites.counts |= known.get("sites", {})

    def __contains__(self, file: Path) -> bool:
        return _state(file) in self._done

    def add(self, file: Path) -> None:
        """Record that all articles of a file are stored."""
        self._done.append(_state(file))
        self._path.parent.mkdir(parents=True, exist_ok=True)
        sites = self._sites.counts if self._sites is not None else {}
        state = {"rules": self._rules, "files": self._done, "sites": sites}
        with rewritten(self._path) as out:
            out.write(json.dumps(state).encode())

    def end(self) -> None:
        """Forget all files, so that the next extraction starts with the first one."""
        self._path.unlink(missing_ok=True)


def _state(file: Path) -> list[str | int]:
    """Return values that change with the content of a file."""
    found = file.stat()
    return [str(file.resolve()), found.st_size, found.st_mtime_ns]
