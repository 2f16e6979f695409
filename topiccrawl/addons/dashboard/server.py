"""HTTP server of the dashboard, in the caller's event loop."""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.resources import files
from typing import TYPE_CHECKING

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from typing_extensions import override

from topiccrawl.addons.dashboard.address import Address
from topiccrawl.addons.dashboard.channel import Channel, errors_as_json, json_response, page_in
from topiccrawl.addons.dashboard.guard import HEADERS, Guard, guard_of
from topiccrawl.addons.dashboard.library import Library
from topiccrawl.addons.dashboard.metrics import available, exposition
from topiccrawl.errors import StorageError, translated
from topiccrawl.messages import message, translate
from topiccrawl.scheduler.frontiers import frontiers_of
from topiccrawl.scheduler.hooks import components
from topiccrawl.storage.formats import template

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from scrapy.settings import BaseSettings, Settings

    from topiccrawl.addons.dashboard.stored import Source, StoredSource
    from topiccrawl.storage.ledger import Ledger

logger = logging.getLogger(__name__)

MAX_CONNECTIONS = 256
"""Maximum number of connections; more are closed at once, to save the crawl's file descriptors."""
IDLE_TIMEOUT = 30.0
"""Seconds for which a connection may be idle or take to send the head of a request."""
MAX_BODY_BYTES = 65_536
"""Maximum size of the body of a request."""
MAX_STREAMS = 32
"""Maximum number of open event streams; each needs a connection."""
_NO_PORT = message(
    "cannot listen on {host}:{port} ({strerror}): choose another port, or 0 for a free one"
)
_TYPES = {
    ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml",
    ".txt": "text/plain", ".json": "application/json",
}  # fmt: skip


class DashboardServer:
    """Serves the dashboard of one data source.

    Args:
        source: Data source.
        guard: Access control.
        routes: More routes, such as those of tasks.
        start: The page at ``/``: ``crawl`` or ``crawls``.
    """

    def __init__(
        self, source: Source, guard: Guard, routes: Sequence[web.RouteDef] = (),
        start: str = "crawl",
    ) -> None:  # fmt: skip
        self.source = source
        self.guard = guard
        self._start = start
        self._channels: dict[str, Channel] = {}
        self._app = web.Application(
            middlewares=[guard.middleware, errors_as_json], client_max_size=MAX_BODY_BYTES
        )
        self._app.add_routes(
            [
                web.get("/", self._page),
                web.get("/{page:crawl|crawls|articles}", self._page),
                web.get("/static/words.{language:en|zh}.json", _words),
                web.get(r"/static/{name:[\w.]{1,50}}", _static),
                web.get("/api/state", self._get_state),
                web.get("/api/events", self._events),
                web.get("/api/articles", self._articles),
                web.get("/api/more", self._more),
                web.get("/metrics", self._get_metrics),
                *routes,
            ]
        )
        self._listening: asyncio.Server | None = None
        self._runner = web.AppRunner(
            self._app, access_log=None, shutdown_timeout=1.0, keepalive_timeout=IDLE_TIMEOUT,
            logger=logger,
        )  # fmt: skip

    @property
    def address(self) -> Address:
        """Address that the server listens on; its port is known after ``start``."""
        return self.guard.address

    @property
    def url(self) -> str:
        """URL of the dashboard; it has the token if one was generated for this run."""
        host = "127.0.0.1" if self.address.host in {"0.0.0.0", "::"} else self.address.host  # noqa: S104
        shown = f"[{host}]" if ":" in host else host
        token = f"?token={self.guard.token}" if self.guard.shown else ""
        return f"http://{shown}:{self.address.port}/{token}"

    async def start(self) -> None:
        """Start listening; call ``stop`` also after an error.

        Raises:
            StorageError: If the port is in use or not permitted.
        """
        await self._runner.setup()
        loop, host, port = asyncio.get_running_loop(), self.address.host, self.address.port
        with translated(StorageError, _NO_PORT, host=host, port=port):
            self._listening = await loop.create_server(self._accept, host, port)
        self.guard.address = Address(host, self._listening.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        """Send the last events and stop; can be called more than once."""
        for channel in self._channels.values():
            channel.stop()
        if self._listening is not None:
            self._listening.close()
        await self._runner.cleanup()

    def _accept(self) -> asyncio.Protocol:
        server = self._runner.server
        assert server is not None  # noqa: S101 - start sets it up before listening
        return server() if len(server.connections) < MAX_CONNECTIONS else _RefusedConnection()

    async def _page(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info.get("page", self._start)
        return web.Response(
            text=template("topiccrawl.addons.dashboard", f"templates/{name}.html").render(),
            content_type="text/html",
            charset="utf-8",
        )

    async def _get_state(self, request: web.Request) -> web.StreamResponse:
        return json_response(await self.source.state(_crawl_in(request)))

    async def _articles(self, request: web.Request) -> web.StreamResponse:
        total, found = await self.source.articles(_crawl_in(request), *page_in(request))
        return json_response({"total": total, "articles": [one._asdict() for one in found]})

    async def _more(self, request: web.Request) -> web.StreamResponse:
        return json_response(await self.source.more(_crawl_in(request)))

    async def _get_metrics(self, _request: web.Request) -> web.StreamResponse:
        if not available():
            raise web.HTTPNotImplemented(
                text="metrics need prometheus-client: pip install 'topiccrawl[metrics]'\n"
            )
        body, kind = exposition(await self.source.states())
        return web.Response(body=body, headers={"Content-Type": kind})

    async def _events(self, request: web.Request) -> web.StreamResponse:
        """Send the whole state, then changes, until the reader disconnects."""
        if sum(one.readers for one in self._channels.values()) >= MAX_STREAMS:
            raise web.HTTPServiceUnavailable(text="too many open event streams\n")
        name = _crawl_in(request)
        channel = self._channels.setdefault(name, Channel(lambda: self.source.state(name)))
        headers = {**HEADERS, "Content-Type": "text/event-stream", "X-Accel-Buffering": "no"}
        response = web.StreamResponse(headers=headers)  # nginx would send events in blocks of 4 kB
        try:
            await channel.serve(response, request)
        finally:
            if not channel.readers:
                self._channels.pop(name, None)
        return response


@asynccontextmanager
async def serving(
    settings: Settings, address: Address, source: StoredSource, *,
    control: bool = True, start: str = "crawl",
) -> AsyncIterator[DashboardServer]:  # fmt: skip
    """Serve the dashboard until the block ends, then close its stores.

    Args:
        settings: Project settings.
        address: Address to listen on.
        source: Data source; closed at the end.
        control: Whether to add the routes of TOPICCRAWL_DASHBOARD_ROUTES, which control crawls.
        start: The page at ``/``.

    Raises:
        SettingError: If a setting is invalid.
        StorageError: If the stores cannot be read or the address is in use.
    """
    async with AsyncExitStack() as closing:
        closing.push_async_callback(source.close)
        library = Library(settings)
        closing.push_async_callback(library.close)
        routes = list(library.routes())
        if control:
            ledger = frontiers_of(settings).ledger()
            closing.push_async_callback(ledger.close)
            routes += contributed_routes(settings, ledger)
        server = DashboardServer(source, guard_of(settings, address), routes, start)
        closing.push_async_callback(server.stop)
        await server.start()
        yield server


def contributed_routes(settings: BaseSettings, ledger: Ledger) -> list[web.RouteDef]:
    """Return the routes of TOPICCRAWL_DASHBOARD_ROUTES, such as those that control crawls.

    Raises:
        SettingError: If a function cannot be loaded.
    """
    builders = components(settings, "TOPICCRAWL_DASHBOARD_ROUTES")
    return [route for build in builders for route in build(settings, ledger)]


def _is_own(record: logging.LogRecord) -> bool:
    """Keep malformed requests out of the log, as their text is untrusted and may have a token."""
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, HttpProcessingError | web.RequestPayloadError)


logger.addFilter(_is_own)


class _RefusedConnection(asyncio.Protocol):
    """Closes a connection at once, when there are too many."""

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.close()


def _crawl_in(request: web.Request) -> str:
    """Return the requested crawl; "" for the latest one."""
    return request.query.get("crawl", "")


async def _words(request: web.Request) -> web.Response:
    """Send the texts of the pages in a language, from the message catalogue."""
    language = request.match_info["language"]
    text = files("topiccrawl.addons.dashboard").joinpath("static", "words.json").read_text("utf-8")
    return json_response(
        {name: translate(word, language) for name, word in json.loads(text).items()}
    )


async def _static(request: web.Request) -> web.Response:
    name = request.match_info["name"]
    suffix = name[name.rfind(".") :]
    found = files("topiccrawl.addons.dashboard").joinpath("static", name)
    if suffix not in _TYPES or not found.is_file():
        raise web.HTTPNotFound
    return web.Response(body=found.read_bytes(), content_type=_TYPES[suffix], charset="utf-8")
