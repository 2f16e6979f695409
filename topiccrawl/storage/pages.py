"""States of watched pages, and changes since a time: hubs and details by owner.

An owner is a topic or a template; each has its own states. The state of a page that is gone is
kept, with the date.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from topiccrawl.storage.part import SqlitePart
from topiccrawl.storage.rows import clean

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence


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


class Pages(Protocol):
    """States of watched pages, in the store. No call blocks the event loop.

    All but ``close`` raise StorageError. Repeat a save that raised; it is idempotent.
    """

    async def open(self) -> None:
        """Open the storage; errors are those of ``Store.open``."""
        ...

    async def close(self) -> None:
        """Close the storage. Idempotent."""
        ...

    async def save(self, states: Sequence[PageState]) -> None:
        """Insert or replace states; after the return they survive kill -9."""
        ...

    async def get(self, owner: str, urls: Sequence[str]) -> dict[str, PageState]:
        """Return the states of those URLs that have one."""
        ...

    async def due(
        self, owner: str, before: float, limit: int = 1000, after: float = 0.0
    ) -> list[PageState]:
        """Return up to ``limit`` states with ``after < due <= before``, soonest first."""
        ...

    async def counts(self, owner: str) -> dict[str, int]:
        """Return the numbers of present ``hubs`` and ``details``, and of pages ``gone``."""
        ...

    async def window(self, owner: str, since: float, until: float = 0.0) -> Window:
        """Return what is new, changed or gone from ``since`` on (and before ``until``, if not 0).

        Lists are ordered by ``first_seen``, ``changed_at`` and ``gone_at``.
        """
        ...


TEXTS = ("url", "etag", "last_modified", "digest", "found_on")
COLUMNS = tuple(one.name for one in fields(PageState))
"""Columns of ``pages``, in the table's order."""

_SELECT = f"SELECT {', '.join(COLUMNS)} FROM pages WHERE owner = :owner"  # noqa: S608 - constant
_REPLACE = (
    f"INSERT OR REPLACE INTO pages ({', '.join(COLUMNS)}) "  # noqa: S608 - constant names
    f"VALUES ({', '.join('?' * len(COLUMNS))})"
)
_WITHIN = {
    "gone": "gone_at > 0 AND gone_at >= :since AND gone_at < :until ORDER BY gone_at, url",
    "new": "gone_at = 0 AND first_seen >= :since AND first_seen < :until ORDER BY first_seen, url",
    "changed": "gone_at = 0 AND changed_at >= :since AND changed_at < :until"
    " AND first_seen < :since ORDER BY changed_at, url",
}
_BATCH = 500
"""URLs of one query."""

_END = 1e12
"""Later than any time."""


class SqlitePages(SqlitePart):
    """``Pages`` in the embedded store's file."""

    async def save(self, states: Sequence[PageState]) -> None:
        """See ``Pages.save``; one transaction for all."""
        rows = [_values(state) for state in states]
        await self._database.write(lambda c: c.executemany(_REPLACE, rows))

    async def get(self, owner: str, urls: Sequence[str]) -> dict[str, PageState]:
        """See ``Pages.get``."""

        def work(connection: sqlite3.Connection) -> list[PageState]:
            found: list[PageState] = []
            for start in range(0, len(urls), _BATCH):
                some = {f"u{n}": clean(u) for n, u in enumerate(urls[start : start + _BATCH])}
                condition = f"AND url IN ({', '.join(f':{name}' for name in some)})"
                found += _select(connection, condition, {"owner": clean(owner), **some})
            return found

        return {state.url: state for state in await self._database.read(work)}

    async def due(
        self, owner: str, before: float, limit: int = 1000, after: float = 0.0
    ) -> list[PageState]:
        """See ``Pages.due``."""
        values = {"owner": clean(owner), "before": before, "after": after, "limit": limit}
        condition = "AND due > 0 AND due > :after AND due <= :before ORDER BY due, url LIMIT :limit"
        return await self._database.read(lambda c: _select(c, condition, values))

    async def counts(self, owner: str) -> dict[str, int]:
        """See ``Pages.counts``."""
        kinds = (
            "SELECT 'hubs', count(*) FROM pages WHERE owner = ?1 AND role = 'hub' AND gone_at = 0"
            " UNION ALL SELECT 'details', count(*) FROM pages"
            " WHERE owner = ?1 AND role = 'detail' AND gone_at = 0"
            " UNION ALL SELECT 'gone', count(*) FROM pages WHERE owner = ?1 AND gone_at > 0"
        )
        name = (clean(owner),)
        return await self._database.read(lambda c: dict(c.execute(kinds, name).fetchall()))

    async def window(self, owner: str, since: float, until: float = 0.0) -> Window:
        """See ``Pages.window``."""
        values = {"owner": clean(owner), "since": since, "until": until or _END}

        def work(connection: sqlite3.Connection) -> Window:
            lists = {
                name: tuple(_select(connection, f"AND role = 'detail' AND {condition}", values))
                for name, condition in _WITHIN.items()
            }
            return Window(**lists)

        return await self._database.read(work)


def sendable(validator: str) -> str:
    """Return a validator, or "" if it is too long to be sent back."""
    return validator if len(validator) <= LONGEST_VALIDATOR else ""


def forget(connection: sqlite3.Connection, name: str) -> None:
    """Delete the states of a URL, or of ``site:HOST``, inside a transaction of the caller."""
    if not name.startswith("site:"):
        connection.execute("DELETE FROM pages WHERE url = ?", (name,))
        return
    host = "replace(replace(substr(url, instr(url, '//') + 2), '?', '/'), ':', '/') || '/'"
    host = f"substr({host}, 1, instr({host}, '/') - 1)"
    condition = f"{host} = ?1 OR substr({host}, -length(?1) - 1) = '.' || ?1"
    connection.execute(f"DELETE FROM pages WHERE {condition}", (name[5:],))  # noqa: S608 - constant


def _select(
    connection: sqlite3.Connection, condition: str, values: Mapping[str, Any]
) -> list[PageState]:
    return [_state(row) for row in connection.execute(f"{_SELECT} {condition}", values)]


def _values(state: PageState) -> tuple[Any, ...]:
    values = asdict(state)
    values["more"] = json.dumps(values["more"], ensure_ascii=False)
    return tuple(clean(one) if isinstance(one, str) else one for one in values.values())


def _state(row: tuple[Any, ...]) -> PageState:
    values = dict(zip(COLUMNS, row, strict=True))
    return PageState(**{**values, "role": Role(values["role"]), "more": json.loads(values["more"])})
