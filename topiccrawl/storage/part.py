"""What the parts of the embedded store share: its file, each with a connection of its own."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING

from topiccrawl.storage.database import FILE, Database

if TYPE_CHECKING:
    from collections.abc import Callable


class SqlitePart:
    """Tables of the embedded store beside those of the articles.

    Args:
        folder: TOPICCRAWL_DATA_DIR.
        now: Clock, seconds since the epoch.
    """

    def __init__(self, folder: str | Path, *, now: Callable[[], float] = time.time) -> None:
        self._database = Database(Path(folder) / FILE, now=now)
        self._now = now

    async def open(self) -> None:
        """Make it ready; errors are those of ``Store.open``."""
        await asyncio.to_thread(self._database.open)

    async def close(self) -> None:
        """Release it. Twice equals once."""
        await asyncio.to_thread(self._database.close)
