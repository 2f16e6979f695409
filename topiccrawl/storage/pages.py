"""States of watched pages, and changes since a time: hubs and details by owner.

An owner is a topic or a template; each has its own states. The state of a page that is gone is
kept, with the date.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from topiccrawl.links.urls import host_of
from topiccrawl.storage.documents import DocumentKind, DocumentStore, Span, pages
from topiccrawl.storage.selection import site_names

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from topiccrawl.storage.contract import Storage
    from topiccrawl.storage.documents import Document, Where


LONGEST_VALIDATOR = 1_000
"""Maximum length of an ETag or Last-Modified sent back: servers refuse headers of some kB."""

UNHAD = 3_600.0
"""Maximum number of seconds until a page that was never fetched is requested again."""


class Role(StrEnum):
    """Role of a page.

    HUB lists links (also a feed or a news sitemap), DETAIL is an article.
    """

    HUB = "hub"
    DETAIL = "detail"


@dataclass(frozen=True, slots=True)
class PageState:
    """State of a watched page. Times are seconds since the epoch, 0 if there is none.

    Attributes:
        owner: Name of the topic or template.
        url: Canonical URL.
        role: Whether it lists links or is an article (or carries a record).
        first_seen: When it was first recorded in this role.
        checked_at: When it was last requested and answered, with any status.
        changed_at: When its main text was last found to differ.
        gone_at: When it was found gone; 0 while it is there.
        due: When it is to be fetched again; 0: never.
        misses: Number of consecutive responses 404 or 410.
        etag: ETag of the response, unchanged.
        last_modified: Last-Modified of the response, unchanged.
        digest: MD5 of the extracted main text, or of other data that the owner compares.
        relevance: Relevance of the page, in [0, 1].
        found_on: URL of the page on which it was found first, or "".
        more: The owner's own values, plain JSON.
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


class Window(NamedTuple):
    """Details that changed since a time; each is in one list only.

    Attributes:
        new: First recorded since then, and there.
        changed: There before with another text, or gone before and there again.
        gone: Found gone.
    """

    new: tuple[PageState, ...] = ()
    changed: tuple[PageState, ...] = ()
    gone: tuple[PageState, ...] = ()


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

_FIRST = 1e-9
"""Earlier than any time that is stored; 0 means that there is none."""


class Pages(DocumentStore):
    """States of watched pages, in the store. All but ``close`` raise StorageError.

    Repeat a save that raised; it is idempotent.

    Args:
        storage: Where they are stored.
    """

    def __init__(self, storage: Storage) -> None:
        super().__init__(storage.documents(PAGES))

    async def save(self, states: Sequence[PageState]) -> None:
        """Insert or replace states; after the return they survive kill -9."""
        await self._documents.put({PAGES: [asdict(state) for state in states]})

    async def get(self, owner: str, urls: Sequence[str]) -> dict[str, PageState]:
        """Return the states of those URLs that have one."""
        found = await self._documents.get(PAGES, [(owner, url) for url in urls])
        return {state.url: state for state in map(_state, found)}

    async def due(
        self, owner: str, before: float, limit: int = 1000, after: float = 0.0
    ) -> list[PageState]:
        """Return up to ``limit`` states with ``after < due <= before``, soonest first."""
        later, end = (math.nextafter(time, math.inf) for time in (after, before))
        span = Span(max(_FIRST, later), end)
        return await self._find({"owner": owner, "due": span}, "due", limit)

    async def counts(self, owner: str) -> dict[str, int]:
        """Return the numbers of present ``hubs`` and ``details``, and of pages ``gone``."""
        here = {"owner": owner, "gone_at": 0.0}
        kinds: dict[str, Where] = {
            "hubs": {**here, "role": Role.HUB},
            "details": {**here, "role": Role.DETAIL},
            "gone": {"owner": owner, "gone_at": Span(_FIRST)},
        }
        return {name: await self._documents.count(PAGES, which) for name, which in kinds.items()}

    async def window(self, owner: str, since: float, until: float = 0.0) -> Window:
        """Return what is new, changed or gone from ``since`` on (and before ``until``, if not 0).

        Lists are ordered by ``first_seen``, ``changed_at`` and ``gone_at``.
        """
        details, end = {"owner": owner, "role": Role.DETAIL}, until or math.inf
        here = {**details, "gone_at": 0.0}
        changed = {"changed_at": Span(since, end), "first_seen": Span(high=since)}
        gone = {"gone_at": Span(max(since, _FIRST), end)}
        return Window(
            tuple(await self._find({**here, "first_seen": Span(since, end)}, "first_seen")),
            tuple(await self._find({**here, **changed}, "changed_at")),
            tuple(await self._find({**details, **gone}, "gone_at")),
        )

    async def forget(self, names: Sequence[str]) -> int:
        """Delete the states of names: URLs, or ``site:HOST`` for a host and its subdomains."""
        urls = {name for name in names if not name.startswith("site:")}
        if sites := set(names) - urls:
            everything = pages(self._documents, PAGES, {}, PAGES.keys, fields=PAGES.keys)
            async for found in everything:
                for url in (state["url"] for state in found):
                    if not sites.isdisjoint(site_names(host_of(url))):
                        urls.add(url)
        return await self._documents.delete(PAGES, *({"url": url} for url in urls))

    async def _find(self, where: Where, order: str, limit: int = 0) -> list[PageState]:
        found = await self._documents.find(PAGES, where, order=(order, "url"), limit=limit)
        return [_state(one) for one in found]


def sendable(validator: str) -> str:
    """Return a validator, or "" if it is too long to be sent back."""
    return validator if len(validator) <= LONGEST_VALIDATOR else ""


def _state(document: Document) -> PageState:
    return PageState(**{**document, "role": Role(document["role"])})
