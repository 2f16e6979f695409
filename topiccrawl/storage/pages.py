"""States of watched pages, hubs and articles, and their changes in a time window.

Each owner, a topic or a template, has its own states. The state of a page that is gone is kept,
with the time.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from topiccrawl.links.urls import host_of
from topiccrawl.storage.documents import DocumentKind, DocumentStore, Span, pages
from topiccrawl.storage.selection import site_names

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from topiccrawl.storage.contract import Storage
    from topiccrawl.storage.documents import Document, Where


LONGEST_VALIDATOR = 1_000
"""Maximum length of an ETag or Last-Modified to send; servers reject headers of several kB."""


class Role(StrEnum):
    """Role of a page.

    HUB: a page with links, also a feed or news sitemap. DETAIL: an article.
    """

    HUB = "hub"
    DETAIL = "detail"


@dataclass(frozen=True, slots=True)
class PageState:
    """State of a watched page. Times are seconds since the epoch, 0 if there is none.

    Attributes:
        owner: Name of the topic or template.
        url: Canonical URL.
        role: HUB, or DETAIL for an article or the page of a record.
        first_seen: Time at which it was first recorded in this role.
        checked_at: Time of the last response, with any status.
        changed_at: Time at which its main text was last found changed.
        gone_at: Time at which it was found gone; 0 while it exists.
        due: Time of the next fetch; 0 for never.
        misses: Number of consecutive responses 404 or 410.
        etag: ETag header of the response.
        last_modified: Last-Modified header of the response.
        digest: MD5 of the main text, or of other data that the owner compares.
        relevance: Relevance of the page, in [0, 1].
        found_on: URL of the page on which it was found first, or "".
        more: Further values of the owner, plain JSON.
    """

    owner: str
    url: str
    role: Role = Role.DETAIL
    first_seen: float = 0.0
    checked_at: float = 0.0
    changed_at: float = 0.0
    gone_at: float = 0.0
    due: float = 0.0
    misses: int = 0
    etag: str = ""
    last_modified: str = ""
    digest: str = ""
    relevance: float = 0.0
    found_on: str = ""
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Change:
    """Event of a watched page; also a Scrapy item (``-a since=``).

    Attributes:
        event: ``new``, ``changed`` or ``gone``.
        url: Canonical URL of the page.
        at: Time of detection, seconds since the epoch.
        owner: Name of the topic or template.
        found_on: URL of the page on which it was found first, or "".
    """

    event: str
    url: str
    at: float
    owner: str
    found_on: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values by field name.

        >>> Change("gone", "http://a.test/1", 5.0, "足球").to_dict()["event"]
        'gone'
        """
        return asdict(self)


PAGES = DocumentKind(
    "pages",
    tuple(one.name for one in fields(PageState)),
    key=2,
    nested=frozenset({"more"}),
    indexes=(
        ("owner", "due"),
        *(("owner", "role", name) for name in ("first_seen", "changed_at", "gone_at")),
        ("url",),
    ),
)

_TIMES = {"new": "first_seen", "changed": "changed_at", "gone": "gone_at"}
"""Fields with the times of events."""

_MIN_TIME = 1e-9
"""Lower bound of stored times; 0 means no time."""


class Pages(DocumentStore):
    """Store of the states of watched pages. All methods but ``close`` raise StorageError.

    Repeat a save that raised; it is idempotent.

    Args:
        storage: Storage of the states.
    """

    def __init__(self, storage: Storage) -> None:
        super().__init__(storage.documents(PAGES))

    async def save(self, states: Sequence[PageState]) -> None:
        """Insert or replace states; after the call returns, they survive kill -9."""
        await self._documents.put({PAGES: [asdict(state) for state in states]})

    async def get(self, owner: str, urls: Sequence[str]) -> dict[str, PageState]:
        """Return the stored states of these URLs, by URL."""
        found = await self._documents.get(PAGES, [(owner, url) for url in urls])
        return {state.url: state for state in map(_state, found)}

    async def due(
        self, owner: str, before: float, limit: int = 1000, after: float = 0.0
    ) -> list[PageState]:
        """Return up to ``limit`` states with ``after < due <= before``, soonest first."""
        return await self._find(_due(owner, before, after), "due", limit)

    async def all_due(
        self, owner: str, before: float, size: int, after: float = 0.0
    ) -> AsyncIterator[list[PageState]]:
        """Yield all states of ``due``, ``size`` at a time."""
        order = ("due", "url")
        async for found in pages(
            self._documents, PAGES, _due(owner, before, after), order, size=size
        ):
            yield [_state(one) for one in found]

    async def hubs(self, owner: str, size: int) -> AsyncIterator[list[PageState]]:
        """Yield the states of all hubs, also of those that are gone, ``size`` at a time."""
        where, order = {"owner": owner, "role": Role.HUB}, ("first_seen", "url")
        async for found in pages(self._documents, PAGES, where, order, size=size):
            yield [_state(one) for one in found]

    async def counts(self, owner: str) -> dict[str, int]:
        """Return the numbers of existing ``hubs`` and ``details``, and of ``gone`` pages."""
        here = {"owner": owner, "gone_at": 0.0}
        kinds: dict[str, Where] = {
            "hubs": {**here, "role": Role.HUB},
            "details": {**here, "role": Role.DETAIL},
            "gone": {"owner": owner, "gone_at": Span(_MIN_TIME)},
        }
        return {name: await self._documents.count(PAGES, which) for name, which in kinds.items()}

    async def changes(self, owner: str, since: float, until: float = 0.0) -> list[Change]:
        """Return the events of detail pages from ``since`` to before ``until`` (0: no end).

        Each page has one event: ``new`` if it was first recorded then, ``changed`` if it was
        recorded earlier and changed or came back, ``gone`` if it was found gone. The oldest event
        comes first.
        """
        details, end = {"owner": owner, "role": Role.DETAIL}, until or math.inf
        here = {**details, "gone_at": 0.0}
        events: dict[str, Where] = {
            "new": {**here, "first_seen": Span(since, end)},
            "changed": {**here, "changed_at": Span(since, end), "first_seen": Span(high=since)},
            "gone": {**details, "gone_at": Span(max(since, _MIN_TIME), end)},
        }
        found = [
            _change(event, state)
            for event, where in events.items()
            for state in await self._find(where, _TIMES[event])
        ]
        return sorted(found, key=lambda change: change.at)

    async def forget(self, names: Sequence[str]) -> int:
        """Delete the states of URLs, and of a host and its subdomains for ``site:HOST``."""
        urls = {name for name in names if not name.startswith("site:")}
        if sites := set(names) - urls:
            async for found in pages(self._documents, PAGES, {}, PAGES.keys, fields=PAGES.keys):
                known = (state["url"] for state in found)
                urls.update(u for u in known if not sites.isdisjoint(site_names(host_of(u))))
        return await self._documents.delete(PAGES, *({"url": url} for url in urls))

    async def _find(self, where: Where, order: str, limit: int = 0) -> list[PageState]:
        found = await self._documents.find(PAGES, where, order=(order, "url"), limit=limit)
        return [_state(one) for one in found]


def _due(owner: str, before: float, after: float) -> Where:
    """Return the condition of the states with ``after < due <= before``."""
    later, end = (math.nextafter(time, math.inf) for time in (after, before))
    return {"owner": owner, "due": Span(max(_MIN_TIME, later), end)}


def sendable(validator: str) -> str:
    """Return a validator, or "" if it is too long for a request header."""
    return validator if len(validator) <= LONGEST_VALIDATOR else ""


def _state(document: Document) -> PageState:
    return PageState(**{**document, "role": Role(document["role"])})


def change_between(known: PageState | None, state: PageState) -> Change | None:
    """Return the event between two states of an article, or None.

    Args:
        known: Earlier state; None if the page is new.
        state: Later state.
    """
    if known is None:
        return _change("new", state)
    if state.gone_at and not known.gone_at:
        return _change("gone", state)
    if state.changed_at > known.changed_at:
        return _change("changed", state)
    return None


def _change(event: str, state: PageState) -> Change:
    at: float = getattr(state, _TIMES[event])
    return Change(event, state.url, at, state.owner, state.found_on)
