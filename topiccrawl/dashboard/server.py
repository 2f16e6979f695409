"""The page's server, in the loop of whoever starts it."""

from __future__ import annotations

import asyncio
import json
import logging
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from aiohttp import web

from topiccrawl.dashboard.changes import difference
from topiccrawl.dashboard.guard import HEADERS, Address, Guard
from topiccrawl.errors import StorageError, TopiccrawlError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from topiccrawl.dashboard.source import Source, State

logger = logging.getLogger(__name__)

EVERY = 1.0
"""Seconds between two looks, while somebody looks on."""
PULSE = 15.0
"""Seconds of silence after which a line without meaning keeps a connection open."""
MOST = 200
"""Articles in one answer at most."""
LISTENERS = 32
"""Pages that may look on at a time; each takes a connection and what is sent to it."""
_TYPES = {
    ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml",
    ".txt": "text/plain",
}  # fmt: skip


class DashboardServer:
    """Serves one source.

    Args:
        source: What is shown.
        guard: Who may see it.
        routes: Further routes, such as those of tasks.
        metrics: Gives the text of /metrics, and its type.
    """

    def __init__(
        self,
        source: Source,
        guard: Guard,
        routes: Sequence[web.RouteDef] = (),
        metrics: Callable[[State], tuple[bytes, str]] | None = None,
    ) -> None:
        self.source = source
        self.guard = guard
        self.address = guard.address
        self._metrics = metrics
        self._listeners: set[asyncio.Queue[str | None]] = set()
        self._state: State = {}
        self._pump: asyncio.Task[None] | None = None
        self._app = web.Application(middlewares=[guard.middleware])
        self._app.add_routes(
            [
                web.get("/", self._page),
                web.get("/static/{name}", self._static),
                web.get("/api/state", self._get_state),
                web.get("/api/events", self._events),
                web.get("/api/articles", self._articles),
                web.get("/api/more", self._more),
                web.get("/metrics", self._get_metrics),
                *routes,
            ]
        )
        self._runner = web.AppRunner(self._app, access_log=None, shutdown_timeout=1.0)

    @property
    def url(self) -> str:
        """Where the page is; with the token where one is needed."""
        host = "127.0.0.1" if self.address.host in {"0.0.0.0", "::"} else self.address.host  # noqa: S104
        shown = f"[{host}]" if ":" in host else host
        token = f"?token={self.guard.token}" if self.guard.token else ""
        return f"http://{shown}:{self.address.port}/{token}"

    async def start(self) -> None:
        """Listen.

        Raises:
            StorageError: The port is taken, or may not be used.
        """
        await self._runner.setup()
        site = web.TCPSite(self._runner, self.address.host, self.address.port)
        try:
            await site.start()
        except OSError as error:
            await self._runner.cleanup()
            raise StorageError(
                f"{self.address.host}:{self.address.port} cannot be listened on "
                f"({error.strerror}): choose another port, 0 for a free one"
            ) from error
        self.address = Address(self.address.host, self._runner.addresses[0][1])

    async def stop(self) -> None:
        """Send what is last, and end. Twice equals once."""
        if self._pump is not None:
            self._pump.cancel()
            await asyncio.gather(self._pump, return_exceptions=True)
            self._pump = None
        if self._listeners:
            self._tell(difference(self._state, await self.source.state()))
        for listener in self._listeners:
            _put(listener, None)
        await self._runner.cleanup()

    # -- answers -----------------------------------------------------------------------------------

    async def _page(self, _request: web.Request) -> web.Response:
        return _file("index.html")

    async def _static(self, request: web.Request) -> web.Response:
        return _file(request.match_info["name"])

    async def _get_state(self, _request: web.Request) -> web.Response:
        return _json(await self.source.state())

    async def _articles(self, request: web.Request) -> web.Response:
        numbers = [request.query.get("offset", "0"), request.query.get("limit", "50")]
        if not all(number.isdecimal() and len(number) < 10 for number in numbers):  # noqa: PLR2004
            raise web.HTTPBadRequest(text="offset and limit are whole numbers\n")
        offset, limit = map(int, numbers)
        try:
            total, found = await self.source.articles(offset, min(limit, MOST))
        except TopiccrawlError as error:
            raise web.HTTPServiceUnavailable(text=f"{error}\n") from error
        return _json({"total": total, "articles": [one._asdict() for one in found]})

    async def _more(self, _request: web.Request) -> web.Response:
        try:
            return _json(await self.source.more())
        except TopiccrawlError as error:
            raise web.HTTPServiceUnavailable(text=f"{error}\n") from error

    async def _get_metrics(self, _request: web.Request) -> web.Response:
        if self._metrics is None:
            raise web.HTTPNotImplemented(
                text="metrics need prometheus-client: pip install 'topiccrawl[metrics]'\n"
            )
        body, kind = self._metrics(await self.source.state())
        return web.Response(body=body, headers={"Content-Type": kind})

    async def _events(self, request: web.Request) -> web.StreamResponse:
        """All that is known, then what changes, until the reader goes away."""
        if len(self._listeners) >= LISTENERS:
            raise web.HTTPServiceUnavailable(text="too many pages look on\n")
        response = web.StreamResponse(headers={**HEADERS, "Content-Type": "text/event-stream"})
        listener: asyncio.Queue[str | None] = asyncio.Queue(maxsize=100)
        self._state = await self.source.state()
        _put(listener, _event(self._state))
        for other in self._listeners:  # the same base for all
            _put(other, _event(self._state))
        self._listeners.add(listener)
        if self._pump is None:
            self._pump = asyncio.create_task(self._run())
        try:
            await response.prepare(request)
            await _send(response, listener)
        except ConnectionError:
            pass  # the reader has gone
        finally:
            self._listeners.discard(listener)
        return response

    async def _run(self) -> None:
        """Tell the listeners what changes; sleep while there is none."""
        while self._listeners:
            await asyncio.sleep(EVERY)
            state = await self.source.state()
            self._tell(difference(self._state, state))
            self._state = state
        self._pump = None

    def _tell(self, changed: State) -> None:
        if changed:
            text = _event(changed)
            for listener in self._listeners:
                _put(listener, text)


async def _send(response: web.StreamResponse, listener: asyncio.Queue[str | None]) -> None:
    while True:
        try:
            text = await asyncio.wait_for(listener.get(), PULSE)
        except TimeoutError:
            text = ": \n\n"
        if text is None:
            return
        await response.write(text.encode())


def _put(listener: asyncio.Queue[str | None], text: str | None) -> None:
    """Add an event; a reader that is too slow is sent away, and comes back for everything."""
    if listener.full():
        while not listener.empty():
            listener.get_nowait()
        text = None
    listener.put_nowait(text)


def _event(state: State) -> str:
    return f"data: {_text(state)}\n\n"


def _json(value: Any) -> web.Response:  # noqa: ANN401
    return web.Response(text=_text(value), content_type="application/json")


def _text(value: Any) -> str:  # noqa: ANN401
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _file(name: str) -> web.Response:
    suffix = name[name.rfind(".") :]
    found = files("topiccrawl.dashboard").joinpath("static", name)
    if suffix not in _TYPES or "/" in name or "\\" in name or not found.is_file():
        raise web.HTTPNotFound
    return web.Response(body=found.read_bytes(), content_type=_TYPES[suffix], charset="utf-8")
