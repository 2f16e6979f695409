"""Waiting in tests: for an event, never for a fixed time."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

T = TypeVar("T")

PATIENCE = 90.0
"""Maximum of seconds to wait for an event; only a failing test waits that long."""


def until(happened: Callable[[], T], message: Callable[[], str] = lambda: "in time") -> T:
    """Return the first true result of ``happened``, or fail with ``message()``."""
    end = time.monotonic() + PATIENCE
    while not (found := happened()):
        assert time.monotonic() < end, message()
        time.sleep(0.03)
    return found


async def soon(happened: Callable[[], object]) -> None:
    """As ``until``, while the event loop continues."""
    end = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < end, "in time"
        await asyncio.sleep(0.01)


async def came(happens: Callable[[], Awaitable[T]]) -> T:
    """As ``soon``, for an asynchronous condition; return its first true result."""
    end = time.monotonic() + PATIENCE
    while not (found := await happens()):
        assert time.monotonic() < end, "in time"
        await asyncio.sleep(0.01)
    return found
