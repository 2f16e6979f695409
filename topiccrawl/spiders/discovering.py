"""Discovery as spiders do it: providers' pages are requests like all others."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple

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
    from typing import Any

    from scrapy.http import Response
    from scrapy.settings import BaseSettings

    from topiccrawl.scheduler.context import CrawlContext

logger = logging.getLogger(__name__)

PRIORITY = 100
"""Priority of search requests: before all others."""
_STATUSES = [301, 302, 303, 307, 308, 400, 403, 404]
"""Statuses that a provider reads itself."""


class Asked(NamedTuple):
    """The search that a result page belongs to.

    Attributes:
        provider: Place of the provider.
        query: Place of the query.
        ordinal: Pages of results before it.
    """

    provider: int
    query: int
    ordinal: int = 0

    def rank(self, position: int) -> int:
        """Place of its ``position``-th result among all, so that each provider's order is kept.

        Results of one page of all providers come before those of the next.

        >>> Asked(0, 0).rank(9) < Asked(1, 0).rank(0) < Asked(0, 0, 1).rank(0)
        True
        """
        return ((self.ordinal * 1000 + self.query) * 100 + self.provider) * 100_000 + position


class Discovery:
    """Searches with providers, page after page.

    Args:
        providers: Providers to search with.
        queries: Search words.
        pages: Result pages requested per provider and query.
    """

    def __init__(
        self, providers: Sequence[SeedProvider], queries: Sequence[str], pages: int
    ) -> None:
        self.providers = providers
        self.queries = queries
        self.pages = pages
        self.troubles: list[str] = []
        self.found = 0
        self._waits: dict[str, str] = {}

    @classmethod
    def of(cls, settings: BaseSettings, specs: str, queries: Sequence[str]) -> Discovery | None:
        """Build the discovery that an argument, else the setting, names; None where neither does.

        Raises:
            ConfigurationError: A provider cannot be used.
        """
        providers = providers_of(specs or settings.get("TOPICCRAWL_DISCOVER") or "")
        pages = int(number(settings, "TOPICCRAWL_DISCOVER_PAGES"))
        return cls(providers, queries, pages) if providers else None

    def start(self) -> Iterator[tuple[Asked, Results]]:
        """Yield the hits that need no request, and the first pages to request, of each search."""
        for place, provider in enumerate(self.providers):
            for query, words in enumerate(self.queries if provider.searches else [""]):
                yield Asked(place, query), provider.start(words)

    def requests(
        self, asked: Asked, results: Results, callback: Callable[..., Any]
    ) -> Iterator[Request]:
        """Requests for the pages that an answer names, as deep as is wished."""
        first = asked.ordinal
        for place, url in enumerate(results.next):
            if first + place < self.pages:
                there = asked._replace(ordinal=first + place)
                self._waits[name(there, url)] = url
                yield request(url, there, callback)

    def read(self, asked: Asked, response: Response) -> Results:
        """Return the results on a page; a failure is logged and kept, and gives none."""
        self._waits.pop(response.meta.get(meta.ROLE, ""), None)
        answer = self._answer(asked, response)
        if isinstance(answer, Results):
            self.found += len(answer.hits)
            return answer
        self.trouble(f"{answer.what}: {response.url}. Remedy: {answer.remedy}")
        return Results()

    def after(self, asked: Asked, results: Results) -> Asked:
        """Return the position of the pages that an answer names."""
        return asked._replace(ordinal=asked.ordinal + 1) if results.counts else asked

    def trouble(self, text: str) -> None:
        """Log and keep a failure, once."""
        if text in self.troubles:
            return
        logger.error("Discovery: %s", text)
        self.troubles.append(text)

    def failed(self, context: CrawlContext) -> bool:
        """Log the pages that could not be fetched, and return whether the search found nothing.

        Called when a crawl has nothing left to fetch. True only where failures are the reason.
        """
        for role, url in self._asked().items():
            known = context.frontier.why(distinct_url(url, role))
            if known is not None and known.queue == "error":
                self.trouble(f"{url}: {said(known.reason)}")
        return bool(self.troubles) and self.is_fruitless(context)

    def is_fruitless(self, context: CrawlContext) -> bool:
        """Return whether no run found anything: the frontier holds search pages alone."""
        if self.found:
            return False
        frontier = context.frontier
        pages = (frontier.why(distinct_url(url, role)) for role, url in self._asked().items())
        return frontier.counts()["known"] <= sum(page is not None for page in pages)

    def reset_failures(self) -> list[str]:
        """Clear the failures and return the frontier's URLs of the searches, to retry them."""
        self.troubles.clear()
        return [distinct_url(url, role) for role, url in self._asked().items()]

    def _asked(self) -> dict[str, str]:
        """Pages that this run requested, with their roles."""
        first = {name(asked, url): url for asked, r in self.start() for url in r.next}
        return {**first, **self._waits}

    def _answer(self, asked: Asked, response: Response) -> Answer:
        location = header(response, "Location")
        page = Fetched(
            response.url, response.body, response.status, header(response, "Content-Type"),
            response.urljoin(location) if location else "",
        )  # fmt: skip
        return self.providers[asked.provider].read(page)


def check_discover(settings: BaseSettings) -> None:
    """Raise ConfigurationError if TOPICCRAWL_DISCOVER cannot be used."""
    providers_of(settings["TOPICCRAWL_DISCOVER"] or "")


def request(url: str, asked: Asked, callback: Callable[..., Any]) -> Request:
    """A request for a page of a provider's, or for a redirect of its."""
    about = {
        meta.ROLE: name(asked, url),
        "dont_redirect": True,
        "handle_httpstatus_list": _STATUSES,
    }
    return Request(
        url,
        callback=callback,
        cb_kwargs={"asked": list(asked)},
        meta=about,
        priority=PRIORITY,
        dont_filter=True,
    )


def name(asked: Asked, url: str) -> str:
    """The role of such a request: one a question and address."""
    return (
        f"d{asked.provider}.{asked.query}.{asked.ordinal}.{xxhash.xxh3_64_hexdigest(url.encode())}"
    )


def said(reason: str) -> str:
    """Return why a provider's page was not fetched, and what helps.

    >>> said("http-429")
    'could not be fetched (http-429): wait, or ask more slowly (DOWNLOAD_DELAY)'
    """
    if reason == "robots":
        return (
            f"the site's robots.txt forbids it, and we obey: {ALTERNATIVES}; "
            "if you run it, or its owner agreed, name its host in TOPICCRAWL_OWN_HOSTS"
        )
    return f"could not be fetched ({reason}): wait, or ask more slowly (DOWNLOAD_DELAY)"
