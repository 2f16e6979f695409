"""Base of the parts of a MongoDB store: one database, one client per part."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from topiccrawl.addons.mongodb.client import Server
from topiccrawl.addons.mongodb.schema import migrate

if TYPE_CHECKING:
    from collections.abc import Callable


class MongoPart:
    """Base class for the store's collections other than those of the articles.

    Args:
        uri: ``mongodb://...``; its path names the database.
        now: Clock, seconds since the epoch.
    """

    def __init__(self, uri: str, *, now: Callable[[], float] = time.time) -> None:
        self._server = Server(uri)
        self._now = now

    async def open(self) -> None:
        """Connect and migrate; errors are those of ``Store.open``."""
        self._server.connect()
        await migrate(self._server, self._now)

    async def close(self) -> None:
        """Close the connections. Idempotent."""
        await self._server.close()
