"""Where a crawl may begin: what a provider is asked for, and what its pages answer.

A provider neither fetches nor waits: it names URLs and reads what came back, so that its requests
go through the same frontier, clock and robots.txt as all others. What a page says is one of three:
results (none is a result, too), *blocked* (a captcha, a limit, a consent page) or *changed* (a page
that is not what the provider knows). The last two are errors with a remedy, never "no results".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

from topiccrawl.text.decode import decode


class Hit(NamedTuple):
    """One result.

    Attributes:
        url: Canonical URL; of a redirect of the provider's where ``indirect``.
        title: What the provider calls it, or "".
        indirect: The URL leads to the result by a redirect, which must be asked for.
    """

    url: str
    title: str = ""
    indirect: bool = False


class Results(NamedTuple):
    """A page that could be read.

    Attributes:
        hits: In the provider's order, each URL once.
        next: URLs of further pages, in order.
        counts: It was a page of results, not one that only names such pages.
    """

    hits: tuple[Hit, ...] = ()
    next: tuple[str, ...] = ()
    counts: bool = True


class Blocked(NamedTuple):
    """The provider wants no programs, or none at this pace.

    Attributes:
        what: What was seen.
        remedy: What the operator can do.
    """

    what: str
    remedy: str


class Changed(NamedTuple):
    """The page is none that the provider knows; attributes as in ``Blocked``."""

    what: str
    remedy: str


Answer = Results | Blocked | Changed
"""What a provider's page says."""


@dataclass(frozen=True)
class Fetched:
    """A page as it was fetched.

    Attributes:
        url: Where.
        body: Its bytes.
        status: HTTP status.
        content_type: The header, or None.
        location: Absolute URL that a redirect names, or "".
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


class Provider(Protocol):
    """One place that names URLs."""

    @property
    def name(self) -> str:
        """For messages: ``baidu``, ``searxng`` ..."""
        ...

    @property
    def searches(self) -> bool:
        """It is asked with words; else its answer is the same whatever is looked for."""
        ...

    def start(self, query: str) -> Results:
        """What is known without asking, and the URLs that are asked first."""
        ...

    def read(self, page: Fetched) -> Answer:
        """What a page says that ``start`` or an earlier page named. Never raises."""
        ...


ELSEWHERE = (
    "use your own SearXNG (discover=searxng:https://...), a list (discover=list:FILE), "
    "or seeds=URL,URL"
)
"""What nearly always helps where an engine refuses."""
