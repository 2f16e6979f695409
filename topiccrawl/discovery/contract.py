"""Protocol of seed providers (search engines and others), and the answers of their pages.

A provider does not fetch. It returns URLs and parses the responses, so that its requests use the
same frontier, host clocks and robots.txt rules as other requests. A page has one of three answers:
``Results`` (possibly empty), ``Blocked`` (captcha, rate limit, consent page) or ``Changed``
(unknown page format). The last two are errors with a remedy and never count as "no results".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol, runtime_checkable

from topiccrawl.text.decode import decode


class Hit(NamedTuple):
    """One result.

    Attributes:
        url: Canonical URL of the result, or of a redirect to it if ``indirect``.
        title: Title given by the provider, or "".
        indirect: True if ``url`` is a redirect that must be fetched to resolve it.
    """

    url: str
    title: str = ""
    indirect: bool = False


class Results(NamedTuple):
    """Parsed page.

    Attributes:
        hits: Distinct results, in the order of the provider.
        next: URLs of further pages, in order.
        counts: True for a result page, False for a page that only links to result pages.
    """

    hits: tuple[Hit, ...] = ()
    next: tuple[str, ...] = ()
    counts: bool = True


class Blocked(NamedTuple):
    """Answer of a provider that rejects crawlers, or requests at this rate.

    Attributes:
        what: Description of the observed error.
        remedy: Advice for the operator.
    """

    what: str
    remedy: str


class Changed(NamedTuple):
    """Answer for a page of unknown format; attributes as in ``Blocked``."""

    what: str
    remedy: str


Answer = Results | Blocked | Changed
"""Answer of a page."""


@dataclass(frozen=True)
class Fetched:
    """Fetched page.

    Attributes:
        url: URL of the page.
        body: Body of the response.
        status: HTTP status.
        content_type: Content-Type header, or None.
        location: Absolute target of a redirect, or "".
    """

    url: str
    body: bytes = b""
    status: int = 200
    content_type: str | None = None
    location: str = ""

    @cached_property
    def text(self) -> str:
        """Decoded body."""
        return decode(self.body, self.content_type).text


@runtime_checkable
class SeedProvider(Protocol):
    """Source of seed URLs, such as a search engine.

    A custom provider is a class with a dotted path:
    ``-a discover=myproject.engines.Mine:https://host`` creates it with the text after the colon, or
    without arguments. ``tests/contracts`` tests the contract.
    """

    @property
    def name(self) -> str:
        """Name for messages, such as ``baidu``."""

    @property
    def searches(self) -> bool:
        """True for a search engine, False if results do not depend on the query."""

    def start(self, query: str) -> Results:
        """Return results that need no request, and the first URLs to request.

        Equal queries must return equal results, so that a resumed crawl repeats no request.
        """

    def read(self, page: Fetched) -> Answer:
        """Parse a page whose URL ``start`` or an earlier page returned.

        The answer must depend only on the page, since topic crawls call it in a thread, for one
        page at a time. Never raises: errors are answers.
        """


ALTERNATIVES = (
    "use your own SearXNG (discover=searxng:https://...), a list (discover=list:FILE), "
    "or seeds=URL,URL"
)
"""Remedy if an engine rejects crawlers."""
