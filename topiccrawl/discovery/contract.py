"""Interface of seed providers (search engines and others), and the results of their pages.

A provider neither fetches nor waits: it names URLs and reads the responses, so that its requests
go through the same frontier, clock and robots.txt as all others. A page gives one of three answers:
results (possibly none), *blocked* (a captcha, a limit, a consent page) or *changed* (a page of an
unknown format). The last two are errors with a remedy, never "no results".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol, runtime_checkable

from topiccrawl.text.decode import decode


class Hit(NamedTuple):
    """One result.

    Attributes:
        url: Canonical URL; that of a redirect of the provider if ``indirect``.
        title: The provider's title of it, or "".
        indirect: The URL is a redirect to the result, which must be fetched to resolve it.
    """

    url: str
    title: str = ""
    indirect: bool = False


class Results(NamedTuple):
    """A page that could be read.

    Attributes:
        hits: In the provider's order, each URL once.
        next: URLs of further pages, in order.
        counts: True for a page of results, False for one that only names such pages.
    """

    hits: tuple[Hit, ...] = ()
    next: tuple[str, ...] = ()
    counts: bool = True


class Blocked(NamedTuple):
    """The provider refuses programs, or requests at this rate.

    Attributes:
        what: Observed sign of it.
        remedy: Advice for the operator.
    """

    what: str
    remedy: str


class Changed(NamedTuple):
    """The page has an unknown format; attributes as in ``Blocked``."""

    what: str
    remedy: str


Answer = Results | Blocked | Changed
"""Answer of a provider's page."""


@dataclass(frozen=True)
class Fetched:
    """A page as it was fetched.

    Attributes:
        url: Its URL.
        body: Its bytes.
        status: HTTP status.
        content_type: The header, or None.
        location: Absolute target of a redirect, or "".
    """

    url: str
    body: bytes = b""
    status: int = 200
    content_type: str | None = None
    location: str = ""

    @cached_property
    def text(self) -> str:
        """The body as text."""
        return decode(self.body, self.content_type).text


@runtime_checkable
class SeedProvider(Protocol):
    """A source of seed URLs, such as a search engine.

    An own one is a class with a dotted path: ``-a discover=myproject.engines.Mine:https://host``
    builds it with the text after the colon, or with nothing. ``tests/contracts`` has its laws.
    """

    @property
    def name(self) -> str:
        """Name in messages: ``baidu``, ``searxng`` ..."""
        ...

    @property
    def searches(self) -> bool:
        """True if it is searched with words; else its answer does not depend on the query."""
        ...

    def start(self, query: str) -> Results:
        """Return the results available without a request, and the first URLs to request.

        The same query gives the same results, so that a resumed crawl repeats no request.
        """
        ...

    def read(self, page: Fetched) -> Answer:
        """Read a page that ``start`` or an earlier page named.

        Depends on the page alone. Never raises: a page that is none of results is an answer, too.
        """
        ...


ELSEWHERE = (
    "use your own SearXNG (discover=searxng:https://...), a list (discover=list:FILE), "
    "or seeds=URL,URL"
)
"""Remedy that nearly always works if an engine refuses."""
