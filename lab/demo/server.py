"""Server of a demo web: an HTTP proxy on loopback that responds for every host.

    with DemoServer(generate(7), log=Path("access.tsv")) as server:
        ...  # crawl with http_proxy=server.proxy

A client of the proxy reaches the demo web and nothing else. The log has one line per request:
seconds since start, client port, status, bytes, URL. It shows which pages were fetched in
which order; status 0 means that the connection was cut or left open on purpose.
"""

from __future__ import annotations

import asyncio
import random
import socket
import struct
import sys
import threading
import time
from collections import Counter
from http.client import responses
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self

from lab.demo.answers import NOT_MODIFIED, OK, Answer
from lab.demo.web import name

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


_HEAD_LIMIT = 1 << 16
"""Maximum size of a request's head in bytes."""
_HANG = 3_600.0
"""Seconds for which a hanging response hangs; clients time out earlier."""


class Answering(Protocol):
    """Source of responses: a demo web, or recorded pages."""

    def answer(self, url: str, visit: int = 0, cookie: str = "") -> Answer:
        """Return the response to the ``visit``-th request (from 0) for a URL."""
        ...


class Answered(NamedTuple):
    """One answered request; times by ``time.monotonic``.

    Attributes:
        url: URL of the page.
        came: Arrival time of the request (see ``came``).
        read: Time at which it was read, which is later on a busy machine.
        ended: Time of the response.
        status: Status of the response; 0 if the connection was cut or left open on purpose.
    """

    url: str
    came: float
    read: float
    ended: float
    status: int


class _Request(NamedTuple):
    method: str
    url: str
    headers: dict[str, str]
    came: float = 0.0
    read: float = 0.0

    @property
    def keep_alive(self) -> bool:
        wish = self.headers.get("proxy-connection") or self.headers.get("connection", "")
        return wish.lower() != "close"


class DemoServer:
    """A proxy for one web; a context manager that serves in its own thread.

    Args:
        web: Source of the responses.
        log: File to which a line per request is appended; None for no log.
        port: Port; 0 for a free one.
        latency: Seconds added before each response.
        error_rate: Share of responses that are replaced by a 503 with Retry-After.
        seed: Seed of these errors.

    Attributes:
        asked: Called with each request as it is read: URL and time of arrival (see ``came``).
        answered: Called with each response, in the server's thread.
    """

    def __init__(
        self,
        web: Answering,
        log: Path | None = None,
        port: int = 0,
        *,
        latency: float = 0.0,
        error_rate: float = 0.0,
        seed: int = 0,
    ) -> None:
        self.web = web
        self.log = log
        self.port = port
        self.latency = latency
        self.error_rate = error_rate
        self.asked: Callable[[str, float], object] | None = None
        self.answered: Callable[[Answered], object] | None = None
        self._luck = random.Random(seed)  # noqa: S311  (faults, no secret)
        self._visits: Counter[str] = Counter()
        self._clients: set[asyncio.Task[None]] = set()

    @property
    def proxy(self) -> str:
        """URL for ``http_proxy``."""
        return f"http://127.0.0.1:{self.port}"

    # -- Life ------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Start listening; ``port`` is known afterwards.

        Raises:
            OSError: If the port is taken or the log cannot be written.
        """
        self._file = self.log.open("a", encoding="utf-8", buffering=1) if self.log else None
        self._began = time.monotonic()
        self._server = await asyncio.start_server(
            self._client, "127.0.0.1", self.port, limit=_HEAD_LIMIT
        )
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Stop listening, close open connections and the log."""
        self._server.close()
        for task in self._clients:
            task.cancel()
        await asyncio.gather(*self._clients, return_exceptions=True)
        await self._server.wait_closed()
        if self._file:
            self._file.close()

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="demo-web", daemon=True)
        self._thread.start()
        try:
            asyncio.run_coroutine_threadsafe(self.start(), self._loop).result()
        except OSError:
            self._end_thread()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self.stop(), self._loop).result()
        self._end_thread()

    def _end_thread(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    # -- Requests --------------------------------------------------------------------------------

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101  (a coroutine that runs has one)
        self._clients.add(task)
        try:
            while (request := await _read(reader)) is not None:
                arrival = came(writer.get_extra_info("socket"))
                request = request._replace(came=arrival, read=time.monotonic())
                if self.asked is not None:
                    self.asked(request.url, arrival)
                if not await self._answer(request, writer) or not request.keep_alive:
                    break
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._clients.discard(task)
            writer.close()

    async def _answer(self, request: _Request, writer: asyncio.StreamWriter) -> bool:
        """Handle one request; return whether the connection stays open."""
        answer = self._choose(request)
        wait = self.latency + answer.latency
        if wait:
            await asyncio.sleep(wait)
        if _is_known(request, answer):
            answer = answer._replace(status=NOT_MODIFIED, body=b"")
        self._write_log(request, answer, writer)
        if answer.cut == "hang":
            await asyncio.sleep(_HANG)
        if answer.cut in {"drop", "hang"}:
            return False
        body = answer.body if request.method != "HEAD" else b""
        if answer.cut == "half":
            writer.write(_head(answer) + body[: len(body) // 2])
            await writer.drain()
            return False
        writer.write(_head(answer) + body)
        await writer.drain()
        return True

    def _choose(self, request: _Request) -> Answer:
        if request.method not in {"GET", "HEAD"}:
            return Answer(405, (("Allow", "GET, HEAD"),))
        if self.error_rate and self._luck.random() < self.error_rate:
            return Answer(503, (("Retry-After", "1"),), b"overloaded")
        page = name(request.url)
        visit = self._visits[page]
        self._visits[page] += 1
        return self.web.answer(request.url, visit, request.headers.get("cookie", ""))

    def _write_log(self, request: _Request, answer: Answer, writer: asyncio.StreamWriter) -> None:
        status, now = 0 if answer.cut else answer.status, time.monotonic()
        if self.answered is not None:
            self.answered(Answered(request.url, request.came, request.read, now, status))
        if self._file is None:
            return
        port = writer.get_extra_info("peername")[1]
        at = now - self._began
        self._file.write(f"{at:.4f}\t{port}\t{status}\t{len(answer.body)}\t{request.url}\n")


_LAST_DATA = 52
"""Offset of the milliseconds since the last data in Linux' ``struct tcp_info``."""
_READINGS = 4
"""Readings of the kernel's count; the quickest is used, since it was not interrupted."""


def came(connection: socket.socket) -> float:
    """Return the arrival time of a connection's last bytes (``time.monotonic``), by the kernel.

    On a busy machine they may stay unread for long. Exact to a few milliseconds on Linux;
    elsewhere, or where the kernel does not report it, it is the time of the call.
    """
    if sys.platform != "linux":
        return time.monotonic()
    _, arrival = min(_reading(connection) for _ in range(_READINGS))
    return arrival


def _reading(connection: socket.socket) -> tuple[float, float]:
    """Return the seconds that one reading of the kernel's count took, and the arrival time."""
    before = time.monotonic()
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _LAST_DATA + 4)
    now = time.monotonic()
    (silent,) = struct.unpack_from("I", info, _LAST_DATA)
    return now - before, now - int(silent) / 1000.0


async def _read(reader: asyncio.StreamReader) -> _Request | None:
    """Read a request's head and skip its body; None if it is malformed or the client has left."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        return None
    first, *lines = head[:-4].decode("latin-1").split("\r\n")
    words = first.split(" ")
    if len(words) != 3:  # noqa: PLR2004  (method, target, version)
        return None
    pairs = (line.partition(":") for line in lines)
    headers = {key.strip().lower(): value.strip() for key, _, value in pairs}
    if headers.get("content-length", "0").isdigit():
        await reader.readexactly(int(headers.get("content-length", "0")))
    target = words[1]
    url = target if "://" in target else f"http://{headers.get('host', '')}{target}"
    return _Request(words[0], url, headers)


def _is_known(request: _Request, answer: Answer) -> bool:
    """Return whether the client has the current version of the page."""
    headers = dict(answer.headers)
    pairs = (("ETag", "if-none-match"), ("Last-Modified", "if-modified-since"))
    return answer.status == OK and any(
        name in headers and request.headers.get(condition) == headers[name]
        for name, condition in pairs
    )


def _head(answer: Answer) -> bytes:
    reason = responses.get(answer.status, "Status")
    lines = [f"HTTP/1.1 {answer.status} {reason}", f"Content-Length: {len(answer.body)}"]
    lines += [f"{key}: {value}" for key, value in answer.headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
