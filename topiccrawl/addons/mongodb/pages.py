"""States of watched pages in MongoDB."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pymongo import ReplaceOne

from topiccrawl.addons.mongodb.part import MongoPart
from topiccrawl.storage.pages import COLUMNS, PageState, Role, Window
from topiccrawl.storage.rows import clean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from topiccrawl.addons.mongodb.client import Collection, Document, Server


class MongoPages(MongoPart):
    """``Pages`` for several machines: one document per owner and URL."""

    async def save(self, states: Sequence[PageState]) -> None:
        """See ``Pages.save``; one bulk write for all."""
        made = [_document(state) for state in states]
        writes = [ReplaceOne({"_id": one["_id"]}, one, upsert=True) for one in made]
        if writes:
            with self._server.translated("write"):
                await self._pages.bulk_write(writes, ordered=True)

    async def get(self, owner: str, urls: Sequence[str]) -> dict[str, PageState]:
        """See ``Pages.get``."""
        names = [_name(owner, url) for url in urls]
        found = await self._find({"_id": {"$in": names}}, "_id")
        return {state.url: state for state in found}

    async def due(
        self, owner: str, before: float, limit: int = 1000, after: float = 0.0
    ) -> list[PageState]:
        """See ``Pages.due``."""
        which = {"owner": clean(owner), "due": {"$gt": max(0.0, after), "$lte": before}}
        return await self._find(which, "due", limit)

    async def counts(self, owner: str) -> dict[str, int]:
        """See ``Pages.counts``."""
        mine: dict[str, Any] = {"owner": clean(owner)}
        kinds = {
            "hubs": {**mine, "role": str(Role.HUB), "gone_at": 0.0},
            "details": {**mine, "role": str(Role.DETAIL), "gone_at": 0.0},
            "gone": {**mine, "gone_at": {"$gt": 0.0}},
        }
        with self._server.translated("read"):
            return {name: await self._pages.count_documents(w) for name, w in kinds.items()}

    async def window(self, owner: str, since: float, until: float = 0.0) -> Window:
        """See ``Pages.window``."""
        span: dict[str, float] = {"$gte": since, **({"$lt": until} if until else {})}
        details = {"owner": clean(owner), "role": str(Role.DETAIL)}
        here = {**details, "gone_at": 0.0}
        gone = {**details, "gone_at": {**span, "$gt": 0.0}}
        changed = {**here, "changed_at": span, "first_seen": {"$lt": since}}
        return Window(
            tuple(await self._find({**here, "first_seen": span}, "first_seen")),
            tuple(await self._find(changed, "changed_at")),
            tuple(await self._find(gone, "gone_at")),
        )

    async def _find(self, which: Mapping[str, Any], order: str, limit: int = 0) -> list[PageState]:
        with self._server.translated("read"):
            cursor = self._pages.find(which, sort=[(order, 1), ("url", 1)], limit=limit)
            return [_state(document) for document in await cursor.to_list()]

    @property
    def _pages(self) -> Collection:
        return self._server.collection("pages")


async def forget(server: Server, name: str) -> None:
    """Delete the states of a URL, or of ``site:HOST``."""
    which: dict[str, Any] = {"url": name}
    if name.startswith("site:"):
        host = re.escape(name.removeprefix("site:"))
        which = {"url": {"$regex": rf"^[a-z]+://([^/?#]*\.)?{host}(:\d+)?([/?#]|$)"}}
    await server.collection("pages").delete_many(which)


def _name(owner: str, url: str) -> str:
    return f"{clean(url)} {clean(owner)}"  # a URL has no blank


def _document(state: PageState) -> Document:
    values = {n: clean(v) if isinstance(v, str) else v for n, v in asdict(state).items()}
    return {"_id": _name(state.owner, state.url), **values, "role": str(state.role)}


def _state(document: Document) -> PageState:
    values = {name: document[name] for name in COLUMNS}
    return PageState(**{**values, "role": Role(values["role"])})
