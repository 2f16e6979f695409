"""Documents of a node: in its own file, except marks, which all nodes share in Redis."""

from __future__ import annotations

import json
import logging
import time
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from topiccrawl.addons.redis.transport import translated
from topiccrawl.messages import message
from topiccrawl.storage.documents import plain
from topiccrawl.storage.sites import CHANGED, MARKS, SITES
from topiccrawl.storage.sqlite_documents import SqliteDocuments

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from redis.asyncio import Redis

    from topiccrawl.storage.documents import Document, DocumentKind, Where

logger = logging.getLogger(__name__)

_NAMES = "topiccrawl:marks"
"""Key of the set of names of marks; the marks of each name are in a hash."""

_AWAY = message("Redis failed ({error}): marks cannot be read or stored")


class NodeDocuments(SqliteDocuments):
    """Documents of one of several nodes.

    Args:
        path: See ``SqliteDocuments``.
        kinds: See ``SqliteDocuments``.
        client: Returns a client of the server.
    """

    def __init__(
        self, path: Path, kinds: Sequence[DocumentKind], client: Callable[[], Redis]
    ) -> None:
        super().__init__(path, kinds)
        self._connect = client
        self._redis: Redis | None = None
        self._moved = False

    @override
    async def close(self) -> None:
        """Close the file and the connection. Idempotent."""
        await super().close()
        if self._redis is not None:
            await self._redis.aclose()
            self._redis = None

    @override
    async def put(self, documents: Mapping[DocumentKind, Sequence[Mapping[str, Any]]]) -> None:
        """Insert or replace documents; marks are stored in Redis."""
        given = documents.get(SITES, ())
        own = {**documents, SITES: [one for one in given if not _is_shared(one["site"])]}
        await super().put({kind: found for kind, found in own.items() if found})
        shared: defaultdict[str, dict[Any, Any]] = defaultdict(dict)
        for one in given:
            if _is_shared(one["site"]):
                shared[plain(one["site"])][plain(one["key"])] = _packed(one)
        if shared:
            with translated(_AWAY):
                async with (await self._client()).pipeline(transaction=True) as pipe:
                    for site, values in shared.items():
                        pipe.hset(_hash(site), mapping=values)
                    pipe.sadd(_NAMES, *shared)
                    await pipe.execute()

    @override
    async def find(
        self, kind: DocumentKind, where: Where, *, order: Sequence[str] = (),
        after: Sequence[Any] = (), limit: int = 0, fields: Sequence[str] = (),
    ) -> list[Document]:  # fmt: skip
        """Return the documents that meet a condition; marks if it selects them, or is empty."""
        if kind is not SITES or not _means_shared(where):
            return await super().find(
                kind, where, order=order, after=after, limit=limit, fields=fields
            )
        found = await self._marks(where)
        if not where:
            found += await super().find(kind, where, fields=fields and (*fields, *order))
        if order:
            placed = sorted((tuple(one[name] for name in order), n) for n, one in enumerate(found))
            found = [found[n] for place, n in placed if not after or place > tuple(after)]
        return [{name: one[name] for name in fields or one} for one in found[: limit or None]]

    @override
    async def delete(self, kind: DocumentKind, *where: Where) -> int:
        """Delete documents, and marks that ``find`` would return; return their number."""
        deleted = await super().delete(kind, *where)
        for condition in where if kind is SITES else ():
            for one in await self._marks(condition) if _means_shared(condition) else ():
                with translated(_AWAY):
                    await (await self._client()).hdel(_hash(one["site"]), one["key"])
                deleted += 1
        return deleted

    async def _client(self) -> Redis:
        """Return the client, after moving marks of earlier versions from the file to Redis."""
        client = self._redis = self._redis or self._connect()
        if not self._moved:
            await self._move(client)
            self._moved = True
        return client

    async def _move(self, client: Redis) -> None:
        """Move marks from the file to Redis, where existing marks are kept; all nodes relearn."""
        known = await super().find(SITES, {}, fields=SITES.keys)
        marks = [one for one in known if _is_shared(one["site"])]
        if not marks:
            return
        async with client.pipeline(transaction=True) as pipe:
            for one in await super().get(SITES, [tuple(one.values()) for one in marks]):
                if one["site"] == CHANGED:
                    pipe.hset(_hash(CHANGED), one["key"], _packed({**one, "value": time.time()}))
                else:
                    pipe.hsetnx(_hash(one["site"]), one["key"], _packed(one))
                pipe.sadd(_NAMES, one["site"])
            await pipe.execute()
        await super().delete(SITES, *marks)
        moved = sum(one["site"] != CHANGED for one in marks)
        logger.info("Moved %d marks from the file of this node to Redis", moved)

    async def _marks(self, where: Where) -> list[Document]:
        """Return the shared documents that meet a condition, which is empty or has a site."""
        with translated(_AWAY):
            client = await self._client()
            if "key" in where:
                texts = [await client.hget(_hash(where["site"]), plain(where["key"]))]
            else:
                everything: set[Any] = set() if where else await client.smembers(_NAMES)
                names = [where["site"]] if where else sorted(map(bytes.decode, everything))
                texts = [text for name in names for text in await client.hvals(_hash(name))]
        found = [SITES.unpacked(json.loads(text)) for text in texts if text is not None]
        return [
            one for one in found if all(one[name] == plain(value) for name, value in where.items())
        ]


def _packed(document: Mapping[str, Any]) -> str:
    return json.dumps(SITES.packed(document), ensure_ascii=False)


def _means_shared(where: Where) -> bool:
    """Return whether a condition selects marks: by their name, or since it is empty."""
    return not where or _is_shared(where.get("site", ""))


def _is_shared(site: str) -> bool:
    return site.startswith(MARKS) or site == CHANGED


def _hash(site: str) -> str:
    return f"{_NAMES}:{plain(site)}"
