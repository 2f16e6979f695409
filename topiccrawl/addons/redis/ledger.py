"""Ledger of several machines: one hash in Redis for each kind of row.

The last reports of runs are stored next to it, for the dashboard of all nodes.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from topiccrawl.addons.redis.transport import Call, address, away
from topiccrawl.messages import message
from topiccrawl.storage.runs import RunReport, State, newest_first, report_of, to_json

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping

    from redis.asyncio import Redis

    from topiccrawl.storage.ledger import Key, Rows

BASE = "{topiccrawl}:ledger:"
RUN = "topiccrawl:run:"
LIFE = 7 * 86_400
"""Seconds that a record is stored after its last report."""
_AWAY = message("{address}: Redis failed ({error})")


class _Client:
    """Owner of a client, whose failed commands raise StorageAwayError.

    Args:
        client: Client of the server, without decoding of responses; closed with this object.
    """

    def __init__(self, client: Redis) -> None:
        self._client = client

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _reply(self, command: Awaitable[Any]) -> Any:  # noqa: ANN401 - redis-py's own types
        with away(_AWAY, address=address(self._client)):
            return await command


class SharedLedger(_Client):
    """Rows in Redis; see ``storage.ledger.Ledger``."""

    async def get(self, kind: str, name: str) -> str | None:
        """Return one row, or None."""
        found = await self._reply(self._client.hget(BASE + kind, name))
        return None if found is None else found.decode()

    async def read(self, *kinds: str) -> Rows:
        """Return all rows of the given kinds."""
        tables = await self._reply(Call("rows", BASE, kinds).on(self._client))
        return {
            kind: {
                name.decode(): text.decode()
                for name, text in zip(table[::2], table[1::2], strict=True)
            }
            for kind, table in zip(kinds, tables, strict=True)
        }

    async def swap(self, before: Mapping[Key, str | None], after: Mapping[Key, str | None]) -> bool:
        """Write ``after`` if all rows equal ``before``; return whether it was written."""
        texts = _packed(before), _packed(after)
        return bool(await self._reply(Call("swap", BASE, texts).on(self._client)))

    async def now(self) -> float:
        """Return the time of Redis, in seconds since the epoch."""
        seconds, micros = await self._reply(self._client.time())
        return float(seconds) + float(micros) / 1e6


def _packed(rows: Mapping[Key, str | None]) -> str:
    """Encode rows for the script; a row without text has two elements, since Lua drops nil."""
    return json.dumps([[*key] if text is None else [*key, text] for key, text in rows.items()])


class SharedRuns(_Client):
    """Run records as keys that expire; see ``runs.Runs``. Ages follow the clock of Redis."""

    async def put(self, state: State) -> None:
        """See ``Runs.put``."""
        await self._reply(self._client.set(RUN + state["run"]["id"], to_json(state), ex=LIFE))

    async def all(self) -> list[RunReport]:
        """See ``Runs.all``."""
        found: list[RunReport] = []
        for key, text, left in await self._reply(self._records()):
            if text is not None:
                found += report_of(text, key.decode(), max(0.0, LIFE - left / 1000))
        return newest_first(found)

    async def _records(self) -> list[tuple[bytes, bytes | None, int]]:
        """Return keys, texts and remaining milliseconds of all records."""
        keys = [key async for key in self._client.scan_iter(match=f"{RUN}*", count=1000)]
        async with self._client.pipeline(transaction=False) as pipe:
            for key in keys:
                pipe.get(key)
                pipe.pttl(key)
            replies = await pipe.execute()
        return list(zip(keys, replies[::2], replies[1::2], strict=True))
