"""Waiting in tests: for what is to happen, however busy the machine is, never for a while."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

T = TypeVar("T")

PATIENCE = 90.0
"""Seconds after which what has not happened will not; only a test that fails waits so long."""


def until(happened: Callable[[], T], told: Callable[[], str] = lambda: "in time") -> T:
    """What ``happened`` says as soon as it is true; else AssertionError with what ``told`` says."""
    end = time.monotonic() + PATIENCE
    while not (found := happened()):
        assert time.monotonic() < end, told()
        time.sleep(0.03)
    return found


async def soon(happened: Callable[[], object]) -> None:
    """As ``until``, and the event loop goes on meanwhile."""
    end = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < end, "in time"
        await asyncio.sleep(0.01)


async def came(happens: Callable[[], Awaitable[T]]) -> T:
    """As ``soon``, for what has to be asked asynchronously; what it says as soon as it is true."""
    end = time.monotonic() + PATIENCE
    while not (found := await happens()):
        assert time.monotonic() < end, "in time"
        await asyncio.sleep(0.01)
    return found
