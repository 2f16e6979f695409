"""Seed discovery in spiders: requests for the pages of seed providers."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import xxhash
from scrapy import Request

from topiccrawl.discovery.contract import ALTERNATIVES, Answer, Fetched, Results, SeedProvider
from topiccrawl.discovery.factory import providers_of
from topiccrawl.scheduler import meta
from topiccrawl.scheduler.hooks import number
from topiccrawl.scheduler.requests import distinct_url
from topiccrawl.spiders.reading import header

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from scrapy.http import Response
    from scrapy.settings import BaseSettings

    from topiccrawl.scheduler.context import CrawlContext

logger = logging.getLogger(__name__)

PRIORITY = 100
"""Priority of requests to seed providers, the highest of a spider."""
_STATUSES = [301, 302, 303, 307, 308, 400, 403, 404]
"""HTTP statuses that are passed to the provider."""


class SearchPage(NamedTuple):
    """Search that a result page belongs to.

    Attributes:
        provider: Index of the provider.
        query: Index of the query.
        ordinal: Number of result pages before this one.
    """

    provider: int
    query: int
    ordinal: int = 0

    def rank(self, position: int) -> int:
        """Return the rank of the result at ``position`` among the results of all searches.

        Each provider keeps its order. The first pages of all providers come before their second
        pages.

        >>> SearchPage(0, 0).rank(9) < SearchPage(1, 0).rank(0) < SearchPage(0, 0, 1).rank(0)
        True
        """
        return ((self.ordinal * 1000 + self.query) * 100 + self.provider) * 100_000 + position


class Discovery:
    """Search for seeds with providers, page by page.

    Args:
        providers: Seed providers.
        queries: Search queries.
        pages: Maximum number of result pages per provider and query.

    Attributes:
        failures: Messages of failures.
        found: Number of hits so far.
    """

    def __init__(
        self, providers: Sequence[SeedProvider], queries: Sequence[str], pages: int
    ) -> None:
        self.providers = providers
        self.queries = queries
        self.pages = pages
        self.failures: list[str] = []
        self.found = 0
        self._requested: dict[str, str] = {}
        self._answers: WeakKeyDictionary[Response, Answer] = WeakKeyDictionary()
        self._thread = ThreadPoolExecutor(1, "discovery")  # one, as a large page takes 0.5 GB

    @classmethod
    def of(cls, settings: BaseSettings, specs: str, queries: Sequence[str]) -> Discovery | None:
        """Build the discovery from an argument or TOPICCRAWL_DISCOVER; None if both are empty.

        Raises:
            ConfigurationError: If a provider cannot be used.
        """
        providers = providers_of(specs or settings.get("TOPICCRAWL_DISCOVER") or "")
        pages = int(number(settings, "TOPICCRAWL_DISCOVER_PAGES"))
        return cls(providers, queries, pages) if providers else None

    def start(self) -> Iterator[tuple[SearchPage, Results]]:
        """Yield, for each search, the hits that need no request and the first pages to request."""
        for index, provider in enumerate(self.providers):
            for query, words in enumerate(self.queries if provider.searches else [""]):
                yield SearchPage(index, query), provider.start(words)

    def requests(
        self, asked: SearchPage, results: Results, callback: Callable[..., Any]
    ) -> Iterator[Request]:
        """Yield requests for the next result pages, up to ``pages``."""
        first = asked.ordinal
        for index, url in enumerate(results.next):
            if first + index < self.pages:
                page = asked._replace(ordinal=first + index)
                self._requested[role_of(page, url)] = url
                yield request(url, page, callback)

    async def prepare(self, request: Request, response: Response) -> None:
        """Parse a page in a thread, since a sitemap of 50 MB takes a second."""
        with suppress(Exception):  # the callback parses the page again, and reports the error
            provider = self.providers[request.cb_kwargs["asked"][0]]
            self._answers[response] = await asyncio.get_running_loop().run_in_executor(
                self._thread, provider.read, _fetched(response)
            )

    def read(self, asked: SearchPage, response: Response) -> Results:
        """Return the results on a page; log and record a failure, which has no results."""
        self._requested.pop(response.meta.get(meta.ROLE, ""), None)
        answer = self._answers.get(response)
        if answer is None:
            answer = self.providers[asked.provider].read(_fetched(response))
        if isinstance(answer, Results):
            self.found += len(answer.hits)
            return answer
        self.report_failure(f"{answer.what}: {response.url}. Remedy: {answer.remedy}")
        return Results()

    def after(self, asked: SearchPage, results: Results) -> SearchPage:
        """Return the position of the pages that follow a result page."""
        return asked._replace(ordinal=asked.ordinal + 1) if results.counts else asked

    def report_failure(self, text: str) -> None:
        """Log and record a failure, once per message."""
        if text in self.failures:
            return
        logger.error("Discovery: %s", text)
        self.failures.append(text)

    def failed(self, context: CrawlContext) -> bool:
        """Log the pages that could not be fetched, and return whether the search failed.

        A search has failed if it found nothing because of errors. Called when the frontier is
        empty.
        """
        for distinct, url in self._pages().items():
            known = context.frontier.why(distinct)
            if known is not None and known.queue == "error":
                self.report_failure(f"{url}: {failure_text(known.reason)}")
        return bool(self.failures) and self.is_fruitless(context)

    def is_fruitless(self, context: CrawlContext) -> bool:
        """Return whether no run found a seed: the frontier has only pages of the search."""
        if self.found:
            return False
        frontier = context.frontier
        pages = map(frontier.why, self._pages())
        return frontier.counts()["known"] <= sum(page is not None for page in pages)

    def retry_urls(self) -> list[str]:
        """Clear the failures, and return the URLs of the search in the frontier for a retry."""
        self.failures.clear()
        return list(self._pages())

    def _pages(self) -> dict[str, str]:
        """Return the URLs that this run requested, by their distinct URLs in the frontier."""
        first = {role_of(asked, url): url for asked, r in self.start() for url in r.next}
        pages = {**first, **self._requested}
        return {distinct_url(url, role): url for role, url in pages.items()}


def _fetched(response: Response) -> Fetched:
    location = header(response, "Location")
    return Fetched(
        response.url, response.body, response.status, header(response, "Content-Type"),
        response.urljoin(location) if location else "",
    )  # fmt: skip


def check_discover(settings: BaseSettings) -> None:
    """Raise ConfigurationError if TOPICCRAWL_DISCOVER cannot be used."""
    providers_of(settings["TOPICCRAWL_DISCOVER"] or "")


def request(url: str, asked: SearchPage, callback: Callable[..., Any]) -> Request:
    """Return the request for a page of a provider, or for the target of a redirect from one."""
    metadata = {
        meta.ROLE: role_of(asked, url),
        "dont_redirect": True,
        "handle_httpstatus_list": _STATUSES,
    }
    return Request(
        url,
        callback=callback,
        cb_kwargs={"asked": list(asked)},
        meta=metadata,
        priority=PRIORITY,
        dont_filter=True,
    )


def role_of(asked: SearchPage, url: str) -> str:
    """Return the role of a provider's request, unique by search and URL."""
    return (
        f"d{asked.provider}.{asked.query}.{asked.ordinal}.{xxhash.xxh3_64_hexdigest(url.encode())}"
    )


def failure_text(reason: str) -> str:
    """Return why a page of a provider was not fetched, with a remedy.

    >>> failure_text("http-429")
    'could not be fetched (http-429): wait, or increase DOWNLOAD_DELAY'
    >>> failure_text("callback-KeyError")
    'its provider failed (callback-KeyError): correct the provider; the log has the traceback'
    """
    if reason.startswith("callback-"):
        return f"its provider failed ({reason}): correct the provider; the log has the traceback"
    if reason == "robots":
        return (
            f"robots.txt of the site disallows it: {ALTERNATIVES}; if you run the site, "
            "or its owner agreed, add its host to TOPICCRAWL_OWN_HOSTS"
        )
    return f"could not be fetched ({reason}): wait, or increase DOWNLOAD_DELAY"
