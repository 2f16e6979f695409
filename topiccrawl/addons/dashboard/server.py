"""The page's server, in the event loop of its caller."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from importlib.resources import files
from typing import TYPE_CHECKING

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from typing_extensions import override

from topiccrawl.addons.dashboard.address import Address
from topiccrawl.addons.dashboard.channel import Channel, json_response
from topiccrawl.addons.dashboard.guard import HEADERS, Guard
from topiccrawl.errors import StorageError, TopiccrawlError
from topiccrawl.messages import translate

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from topiccrawl.storage.status import Source, State

    Answering = Callable[[web.Request], Awaitable[web.StreamResponse]]
    Exposition = Callable[[Sequence[State]], tuple[bytes, str]]

logger = logging.getLogger(__name__)

MOST = 200
"""Maximum of articles in one response."""
CONNECTIONS = 256
"""Connections at a time; more are closed at once, to leave file descriptors for the crawl."""
PATIENCE = 30.0
"""Seconds that a connection may take for (the rest of) a request's head, or be idle."""
LARGEST = 65_536
"""Bytes of a request's body."""
LISTENERS = 32
"""Event streams open at a time; each takes a connection and a queue of events."""
_TYPES = {
    ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml",
    ".txt": "text/plain", ".json": "application/json",
}  # fmt: skip


_PART = re.compile(r"<!-- (\w+) -->")
"""Marks a part of a page in its file, and its place in ``shell.html``."""


class DashboardServer:
    """Serves one source.

    Args:
        source: What is shown.
        guard: Access control.
        routes: Further routes, such as those of tasks.
        metrics: Gives the text of /metrics, and its type.
        start: The page at ``/``: ``crawl``, or ``crawls``.
    """

    def __init__(
        self, source: Source, guard: Guard, routes: Sequence[web.RouteDef] = (),
        metrics: Exposition | None = None, start: str = "crawl",
    ) -> None:  # fmt: skip
        self.source = source
        self.guard = guard
        self._metrics = metrics
        self._start = start
        self._channels: dict[str, Channel] = {}
        self._app = web.Application(middlewares=[guard.middleware], client_max_size=LARGEST)
        self._app.add_routes(
            [
                web.get("/", self._page),
                web.get("/{page:crawl|crawls|articles}", self._page),
                web.get("/static/words.{language:en|zh}.json", _words),
                web.get("/static/{name}", self._static),
                web.get("/api/state", self._with_reason(self._get_state)),
                web.get("/api/events", self._with_reason(self._events)),
                web.get("/api/articles", self._with_reason(self._articles)),
                web.get("/api/more", self._with_reason(self._more)),
                web.get("/metrics", self._with_reason(self._get_metrics)),
                *routes,
            ]
        )
        self._listening: asyncio.Server | None = None
        self._runner = web.AppRunner(
            self._app, access_log=None, shutdown_timeout=1.0, keepalive_timeout=PATIENCE,
            logger=logger,
        )  # fmt: skip

    @property
    def address(self) -> Address:
        """Address that it listens on; its port is known once it has started."""
        return self.guard.address

    @property
    def url(self) -> str:
        """URL of the page; with the token where one was generated for this run."""
        host = "127.0.0.1" if self.address.host in {"0.0.0.0", "::"} else self.address.host  # noqa: S104
        shown = f"[{host}]" if ":" in host else host
        token = f"?token={self.guard.token}" if self.guard.shown else ""
        return f"http://{shown}:{self.address.port}/{token}"

    async def start(self) -> None:
        """Listen.

        Raises:
            StorageError: The port is taken, or may not be used.
        """
        await self._runner.setup()
        loop, address = asyncio.get_running_loop(), self.address
        try:
            self._listening = await loop.create_server(self._accept, address.host, address.port)
        except OSError as error:
            await self._runner.cleanup()
            raise StorageError(
                "{host}:{port} cannot be listened on ({strerror}): choose "
                "another port, 0 for a free one",
                host=self.address.host,
                port=self.address.port,
                strerror=error.strerror,
            ) from error
        self.guard.address = Address(address.host, self._listening.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        """Send what is last, and end. Twice equals once."""
        for channel in self._channels.values():
            await channel.stop()
        if self._listening is not None:
            self._listening.close()
        await self._runner.cleanup()

    def _accept(self) -> asyncio.Protocol:
        server = self._runner.server
        assert server is not None  # noqa: S101 - it was set up before anything is accepted
        return server() if len(server.connections) < CONNECTIONS else _Full()

    # -- answers -----------------------------------------------------------------------------------

    async def _page(self, request: web.Request) -> web.StreamResponse:
        page = _page(request.match_info.get("page", self._start))
        return web.Response(text=page, content_type="text/html", charset="utf-8")

    async def _static(self, request: web.Request) -> web.StreamResponse:
        return _file(request.match_info["name"])

    async def _get_state(self, request: web.Request) -> web.StreamResponse:
        return json_response(await self.source.state(_crawl(request)))

    async def _articles(self, request: web.Request) -> web.StreamResponse:
        numbers = [request.query.get("offset", "0"), request.query.get("limit", "50")]
        if not all(number.isascii() and number.isdigit() for number in numbers):
            raise web.HTTPBadRequest(text="offset and limit are whole numbers\n")
        offset, limit = (min(int(number[:10]), 10**9) for number in numbers)
        total, found = await self.source.articles(_crawl(request), offset, min(limit, MOST))
        return json_response({"total": total, "articles": [one._asdict() for one in found]})

    async def _more(self, request: web.Request) -> web.StreamResponse:
        return json_response(await self.source.more(_crawl(request)))

    async def _get_metrics(self, _request: web.Request) -> web.StreamResponse:
        if self._metrics is None:
            raise web.HTTPNotImplemented(
                text="metrics need prometheus-client: pip install 'topiccrawl[metrics]'\n"
            )
        body, kind = self._metrics(await self.source.states())
        return web.Response(body=body, headers={"Content-Type": kind})

    async def _events(self, request: web.Request) -> web.StreamResponse:
        """Send the whole state, then changes, until the reader disconnects."""
        if sum(map(len, self._channels.values())) >= LISTENERS:
            raise web.HTTPServiceUnavailable(text="too many pages look on\n")
        name = _crawl(request)
        channel = self._channels.setdefault(name, Channel(lambda: self.source.state(name)))
        response = web.StreamResponse(headers={**HEADERS, "Content-Type": "text/event-stream"})
        try:
            await channel.serve(response, request)
        finally:
            if not len(channel):
                self._channels.pop(name, None)
                await channel.stop()
        return response

    @staticmethod
    def _with_reason(answering: Answering) -> Answering:
        """Answer 503 with the reason where what is asked for cannot be read."""

        async def answer(request: web.Request) -> web.StreamResponse:
            try:
                return await answering(request)
            except TopiccrawlError as error:
                raise web.HTTPServiceUnavailable(text=f"{error.public}\n") from error

        return answer


class _OwnFaults(logging.Filter):
    """Keeps malformed requests out of the log: their text is untrusted and may hold a token."""

    @override
    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        return not isinstance(error, HttpProcessingError)


logger.addFilter(_OwnFaults())


class _Full(asyncio.Protocol):
    """Closes a connection that is one too many."""

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.close()


def _crawl(request: web.Request) -> str:
    """Return the requested crawl; "" for the one that began last."""
    return request.query.get("crawl", "")


async def _words(request: web.Request) -> web.Response:
    """Send the page's words in a language, from the catalogue of all messages."""
    language = request.match_info["language"]
    text = files("topiccrawl.addons.dashboard").joinpath("static", "words.json").read_text("utf-8")
    return json_response(
        {name: translate(word, language) for name, word in json.loads(text).items()}
    )


def _page(name: str) -> str:
    """Return a page: the parts of its own file in their places of ``shell.html``."""
    static = files("topiccrawl.addons.dashboard").joinpath("static")
    _, *split = _PART.split(static.joinpath(f"{name}.html").read_text("utf-8"))
    parts = dict(zip(split[::2], split[1::2], strict=True))
    shell = static.joinpath("shell.html").read_text("utf-8")
    return _PART.sub(lambda place: parts.get(place[1], "").strip(), shell)


def _file(name: str) -> web.Response:
    suffix = name[name.rfind(".") :]
    found = files("topiccrawl.addons.dashboard").joinpath("static", name)
    if suffix not in _TYPES or "/" in name or "\\" in name or not found.is_file():
        raise web.HTTPNotFound
    return web.Response(body=found.read_bytes(), content_type=_TYPES[suffix], charset="utf-8")
