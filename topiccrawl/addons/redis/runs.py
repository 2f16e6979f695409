"""Last reports of runs, in Redis: for a page that shows all nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from topiccrawl.addons.redis.ledger import answer
from topiccrawl.storage.runs import RunReport, ordered, packed, unpacked

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from topiccrawl.storage.status import State

BASE = "topiccrawl:run:"
LIFE = 7 * 86_400
"""Seconds that a record is kept after its last report."""


class SharedRuns:
    """Records as keys that expire; see ``runs.Runs``. Ages follow Redis' clock.

    Args:
        client: Of the server, without decoding of responses; closed with this.
    """

    def __init__(self, client: Redis) -> None:
        self._client = client

    async def put(self, state: State) -> None:
        """See ``Runs.put``."""
        key = BASE + state["run"]["id"]
        await answer(self._client.set(key, packed(state), ex=LIFE), self._client)

    async def all(self) -> list[RunReport]:
        """See ``Runs.all``."""
        keys = await answer(self._keys(), self._client)
        found: list[RunReport] = []
        for key in keys:
            text, left = await answer(self._both(key), self._client)
            if text is not None:
                found.append(RunReport(unpacked(text, key.decode()), max(0.0, LIFE - left / 1000)))
        return ordered(found)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _keys(self) -> list[bytes]:
        return [key async for key in self._client.scan_iter(match=f"{BASE}*", count=1000)]

    async def _both(self, key: bytes) -> Any:  # noqa: ANN401 - text and milliseconds left
        async with self._client.pipeline(transaction=False) as pipe:
            pipe.get(key)
            pipe.pttl(key)
            return await pipe.execute()
