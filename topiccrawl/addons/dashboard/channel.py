"""Server-sent events: changes of one crawl's state, sent to all connected readers."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from aiohttp import web

from topiccrawl.errors import TopiccrawlError
from topiccrawl.storage.rows import clean

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from topiccrawl.storage.status import State

POLL_SECONDS = 1.0
"""Seconds between two reads of the state while readers are connected."""
KEEPALIVE_SECONDS = 15.0
"""Seconds without events after which a comment line keeps a connection open."""
MAX_QUEUED_EVENTS = 100
"""Events that may wait for a slow reader. With more, it is disconnected, so that it reconnects and
gets the whole state."""

Listener = asyncio.Queue["str | None"]


class Channel:
    """Reads the state while readers are connected, and sends them the changes.

    Args:
        read_state: Returns the state.
    """

    def __init__(self, read_state: Callable[[], Awaitable[State]]) -> None:
        self._read_state = read_state
        self._listeners: set[Listener] = set()
        self._state: State = {}
        self._pump: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._listeners)

    async def serve(self, response: web.StreamResponse, request: web.Request) -> None:
        """Send the whole state, then changes, until the reader disconnects or the server stops."""
        listener: Listener = asyncio.Queue(maxsize=MAX_QUEUED_EVENTS)
        state = await self._read_state()
        self._broadcast(difference(self._state, state))  # all readers share one base state
        self._state = state
        _put(listener, event(state))
        self._listeners.add(listener)
        if self._pump is None:
            self._pump = asyncio.create_task(self._run())
        try:
            await response.prepare(request)
            await _send(response, listener)
        except ConnectionError:
            return  # the reader disconnected
        finally:
            self._listeners.discard(listener)

    async def stop(self) -> None:
        """Send the last changes and close the stream."""
        if self._pump is not None:
            self._pump.cancel()
            await asyncio.gather(self._pump, return_exceptions=True)
            self._pump = None
        if self._listeners:
            self._broadcast(difference(self._state, await self._read_state()))
        for listener in self._listeners:
            _put(listener, None)

    async def _run(self) -> None:
        while self._listeners:
            await asyncio.sleep(POLL_SECONDS)
            try:
                state = await self._read_state()
            except TopiccrawlError:
                continue  # the state cannot be read now
            self._broadcast(difference(self._state, state))
            self._state = state
        self._pump = None

    def _broadcast(self, changed: State) -> None:
        if changed and self._listeners:
            text = event(changed)
            for listener in self._listeners:
                _put(listener, text)


async def _send(response: web.StreamResponse, listener: Listener) -> None:
    while True:
        try:
            text = await asyncio.wait_for(listener.get(), KEEPALIVE_SECONDS)
        except TimeoutError:
            text = ": \n\n"
        if text is None:
            return
        await response.write(text.encode())


def _put(listener: Listener, text: str | None) -> None:
    """Queue an event; disconnect a reader that is too slow."""
    if listener.full():
        while not listener.empty():
            listener.get_nowait()
        text = None
    listener.put_nowait(text)


def event(state: State) -> str:
    """Format a state as an event."""
    return f"data: {text_of(state)}\n\n"


def text_of(value: Any) -> str:  # noqa: ANN401 - any JSON value
    r"""Return JSON on one line that can always be encoded in UTF-8.

    >>> text_of(["\ud800", 1])
    '["?",1]'
    """
    return clean(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def json_response(value: Any) -> web.Response:  # noqa: ANN401 - any JSON value
    """Return a response with a value as JSON."""
    return web.Response(text=text_of(value), content_type="application/json")


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
