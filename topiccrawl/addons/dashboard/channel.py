"""Responses of the dashboard: JSON, errors, and streams of the changes of a crawl's state."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from aiohttp import web

from topiccrawl.errors import ConfigurationError, StateError, StateVersionError, TopiccrawlError
from topiccrawl.storage.runs import State, to_json

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from aiohttp.typedefs import Handler

logger = logging.getLogger(__name__)

MAX_ARTICLES = 200
"""Maximum number of articles in one response."""
POLL_SECONDS = 1.0
"""Seconds between two reads of the state, which all readers share."""
KEEPALIVE_SECONDS = 15.0
"""Seconds without events after which a comment line keeps a connection open."""


class Channel:
    """Sends each reader the state, and then its changes; a slow reader gets them less often.

    Args:
        read_state: Returns the state.

    Attributes:
        readers: Number of connected readers.
    """

    def __init__(self, read_state: Callable[[], Awaitable[State]]) -> None:
        self.readers = 0
        self._read_state = read_state
        self._state: State = {}
        self._cached_until = 0.0
        self._lock = asyncio.Lock()
        self._stopping = asyncio.Event()

    async def serve(self, response: web.StreamResponse, request: web.Request) -> None:
        """Send the whole state, then changes, until the reader disconnects or the server stops."""
        self.readers += 1
        try:
            self._cached_until = 0.0  # a new reader gets the present state
            known = await self._current()
            await response.prepare(request)
            await response.write(event(known).encode())
            last = False
            while not last:
                last = self._stopping.is_set()
                known = await self._send_changes(response, known)
        except ConnectionError:
            return  # the reader disconnected
        finally:
            self.readers -= 1

    def stop(self) -> None:
        """Let all readers get the last changes and their streams end."""
        self._cached_until = 0.0
        self._stopping.set()

    async def _send_changes(self, response: web.StreamResponse, known: State) -> State:
        """Wait for changes of the state, and send them; return the new state."""
        silent_until = time.monotonic() + KEEPALIVE_SECONDS
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), POLL_SECONDS)
            state = known
            with suppress(TopiccrawlError):  # the state cannot be read now
                state = await self._current()
            changed = difference(known, state)
            if changed or time.monotonic() > silent_until:
                await response.write((event(changed) if changed else ": \n\n").encode())
                return state
            if self._stopping.is_set():
                return state

    async def _current(self) -> State:
        """Return the state, read once a second for all readers; the last one if it cannot be read.

        Raises:
            TopiccrawlError: If the state cannot be read and never was.
        """
        async with self._lock:
            if time.monotonic() >= self._cached_until:
                self._cached_until = time.monotonic() + POLL_SECONDS  # stop() resets it
                try:
                    self._state = await self._read_state()
                except TopiccrawlError:
                    if not self._state:
                        self._cached_until = 0.0
                        raise
            return self._state


def event(state: State) -> str:
    """Format a state as an event."""
    return f"data: {to_json(state)}\n\n"


def json_response(value: object) -> web.Response:
    """Return a response with a value as JSON."""
    return web.Response(text=to_json(value), content_type="application/json")


@web.middleware
async def errors_as_json(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Respond to an invalid request with status 400, and with 503 if data cannot be read.

    The body is ``{"error": reason}``.
    """
    try:
        return await handler(request)
    except TopiccrawlError as error:
        if error.public != str(error):  # the text of a file is only logged
            logger.warning("%s %s: %s", request.method, request.path, error)
        invalid = isinstance(error, ConfigurationError | StateError)
        unreadable = not invalid or isinstance(error, StateVersionError)
        kind = web.HTTPServiceUnavailable if unreadable else web.HTTPBadRequest
        reason = to_json({"error": error.public})
        raise kind(text=reason, content_type="application/json") from error


def page_in(request: web.Request) -> tuple[int, int]:
    """Return offset and limit of a request's query, at most 10**9 and ``MAX_ARTICLES``.

    Raises:
        ConfigurationError: One of them is not a whole number.
    """
    texts = request.query.get("offset", "0"), request.query.get("limit", "50")
    if not all(text.isascii() and text.isdigit() for text in texts):
        raise ConfigurationError("offset and limit must be whole numbers")
    offset, limit = (int(text[:10]) for text in texts)
    return min(offset, 10**9), min(limit, MAX_ARTICLES)


def difference(old: State, new: State) -> State:
    """Return the sections of ``new`` that differ from ``old``; of a series, only the new points.

    >>> difference({"a": 1, "series": {"every": 1, "points": [1]}},
    ...            {"a": 1, "series": {"every": 1, "points": [1, 2]}})
    {'series': {'every': 1, 'points': [2], 'from': 1}}
    """
    found = {name: value for name, value in new.items() if old.get(name) != value}
    if "series" in found and "series" in old:
        found["series"] = _added_points(old["series"], new["series"])
    return found


def _added_points(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    known, points = len(old["points"]), new["points"]
    if old["every"] == new["every"] and points[:known] == old["points"]:
        return {**new, "from": known, "points": points[known:]}
    return new
