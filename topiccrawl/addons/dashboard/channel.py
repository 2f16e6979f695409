"""Stream of one crawl's changes to all readers."""

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

EVERY = 1.0
"""Seconds between two reads of the state while there are readers."""
PULSE = 15.0
"""Seconds without events after which a comment line keeps a connection open."""
BEHIND = 100
"""Events that a reader may lag behind before it is disconnected, to start again in full."""

Listener = asyncio.Queue["str | None"]


class Channel:
    """Reads the state while there are readers, and sends them the changes.

    Args:
        look: Returns the state.
    """

    def __init__(self, look: Callable[[], Awaitable[State]]) -> None:
        self._look = look
        self._listeners: set[Listener] = set()
        self._state: State = {}
        self._pump: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._listeners)

    async def serve(self, response: web.StreamResponse, request: web.Request) -> None:
        """Send the whole state, then changes, until the reader disconnects or the server ends."""
        listener: Listener = asyncio.Queue(maxsize=BEHIND)
        state = await self._look()
        self._tell(difference(self._state, state))  # all have the same base
        self._state = state
        _put(listener, event(state))
        self._listeners.add(listener)
        if self._pump is None:
            self._pump = asyncio.create_task(self._run())
        try:
            await response.prepare(request)
            await _send(response, listener)
        except ConnectionError:
            return  # the reader has gone
        finally:
            self._listeners.discard(listener)

    async def stop(self) -> None:
        """Send the last changes, and end."""
        if self._pump is not None:
            self._pump.cancel()
            await asyncio.gather(self._pump, return_exceptions=True)
            self._pump = None
        if self._listeners:
            self._tell(difference(self._state, await self._look()))
        for listener in self._listeners:
            _put(listener, None)

    async def _run(self) -> None:
        while self._listeners:
            await asyncio.sleep(EVERY)
            try:
                state = await self._look()
            except TopiccrawlError:
                continue  # the state is stored elsewhere and not available
            self._tell(difference(self._state, state))
            self._state = state
        self._pump = None

    def _tell(self, changed: State) -> None:
        if changed and self._listeners:
            text = event(changed)
            for listener in self._listeners:
                _put(listener, text)


async def _send(response: web.StreamResponse, listener: Listener) -> None:
    while True:
        try:
            text = await asyncio.wait_for(listener.get(), PULSE)
        except TimeoutError:
            text = ": \n\n"
        if text is None:
            return
        await response.write(text.encode())


def _put(listener: Listener, text: str | None) -> None:
    """Add an event; disconnect a reader that is too slow."""
    if listener.full():
        while not listener.empty():
            listener.get_nowait()
        text = None
    listener.put_nowait(text)


def event(state: State) -> str:
    """An event of a stream."""
    return f"data: {text_of(state)}\n\n"


def text_of(value: Any) -> str:  # noqa: ANN401 - any JSON value
    r"""Return JSON on one line that can be encoded in UTF-8, whatever text it holds.

    >>> text_of(["\ud800", 1])
    '["?",1]'
    """
    return clean(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def json_response(value: Any) -> web.Response:  # noqa: ANN401 - any JSON value
    """Return a response with a value as JSON."""
    return web.Response(text=text_of(value), content_type="application/json")


def difference(old: State, new: State) -> State:
    """Return the sections of ``new`` that differ from ``old``; of a history, the added points.

    >>> difference({"a": 1, "series": {"every": 1, "points": [1]}},
    ...            {"a": 1, "series": {"every": 1, "points": [1, 2]}})
    {'series': {'every': 1, 'points': [2], 'from': 1}}
    """
    found = {name: value for name, value in new.items() if old.get(name) != value}
    if "series" in found and "series" in old:
        found["series"] = _grown(old["series"], new["series"])
    return found


def _grown(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    known, points = len(old["points"]), new["points"]
    if old["every"] == new["every"] and points[:known] == old["points"]:
        return {**new, "from": known, "points": points[known:]}
    return new
