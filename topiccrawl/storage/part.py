"""Base of the parts of the embedded store: one file, one connection per part."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING

from topiccrawl.storage.database import FILE, Database

if TYPE_CHECKING:
    from collections.abc import Callable


class SqlitePart:
    """Base class for the embedded store's tables other than those of the articles.

    Args:
        folder: TOPICCRAWL_DATA_DIR.
        now: Clock, seconds since the epoch.
    """

    def __init__(self, folder: str | Path, *, now: Callable[[], float] = time.time) -> None:
        self._database = Database(Path(folder) / FILE, now=now)
        self._now = now

    async def open(self) -> None:
        """Open the file; errors are those of ``Store.open``."""
        await asyncio.to_thread(self._database.open)

    async def close(self) -> None:
        """Close the file. Idempotent."""
        await asyncio.to_thread(self._database.close)
