"""Server of the hostile cases: a proxy for all hosts, with one host for each case.

    with Hostile(CASES) as web: ...  # crawl with http_proxy=web.proxy: http://gzip-bomb.test/

A case writes raw bytes, so that no library corrects its response.
"""

from __future__ import annotations

import socket
import struct
import threading
from collections import Counter
from contextlib import suppress
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import TYPE_CHECKING, NamedTuple, Self
from urllib.parse import urlsplit

from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

MOST = 300 << 20
"""Bytes after which an endless answer ends by itself: the test fails by its bounds before."""
HTML = "Content-Type: text/html; charset=utf-8"


class Client:
    """One request, and the connection that answers it.

    Attributes:
        host: Host that is asked.
        path: Path and query.
        number: Requests for this URL so far, with this one.
        total: Requests for pages of all hosts so far.
    """

    total = 0

    def __init__(
        self, connection: socket.socket, url: str, number: int, over: threading.Event
    ) -> None:
        parts = urlsplit(url if "://" in url else f"https://{url}")  # CONNECT names host and port
        self.host, self.path = parts.hostname or "", parts.path
        self.path += f"?{parts.query}" if parts.query else ""
        self.number = number
        Client.total += 1
        self._connection, self._over = connection, over

    def send(self, data: bytes) -> None:
        """Write bytes; OSError once the crawler has closed the connection."""
        self._connection.sendall(data)

    def answer(self, body: str | bytes, *headers: str, status: str = "200 OK") -> None:
        """Write a valid response."""
        data = body.encode(errors="surrogatepass") if isinstance(body, str) else body
        typed = any(line.lower().startswith("content-type") for line in headers)
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(data)}", *headers]
        self.send("\r\n".join([*lines, *([] if typed else [HTML]), "", ""]).encode() + data)

    def head(self, *headers: str, status: str = "200 OK") -> None:
        """Write a head only."""
        self.send("\r\n".join([f"HTTP/1.1 {status}", *headers, "", ""]).encode())

    def endless(self, data: bytes, pause: float = 0.0) -> None:
        """Write bytes again and again until the crawler closes the connection."""
        sent = 0
        while sent < MOST and not self._over.wait(pause or 0):
            self.send(data)
            sent += len(data)

    def silence(self) -> None:
        """Write nothing until the crawler closes the connection."""
        self._connection.settimeout(60)
        self._connection.recv(1)

    def reset(self) -> None:
        """Break the connection."""
        self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._connection.close()


class Case(NamedTuple):
    """One hostile case.

    Attributes:
        name: Name of the case and of its host.
        what: Its description.
        act: Answers a request for a page.
        outcomes: How the page may end: ``queue`` or ``queue reason``, of the frontier.
        recorded: URLs of its host and those below that may be recorded.
        robots: Answers a request for robots.txt; None: 404.
        scheme: Scheme of the page.
    """

    name: str
    what: str
    act: Callable[[Client], None]
    outcomes: tuple[str, ...]
    recorded: int = 1
    robots: Callable[[Client], None] | None = None
    scheme: str = "http"

    @property
    def url(self) -> str:
        """The page."""
        return f"{self.scheme}://{self.name}.test/"


class Hostile:
    """Serves the cases, and other hosts' pages by URL.

    Args:
        cases: The cases.
        pages: Pages of well-behaved hosts.

    Attributes:
        asked: Requests by URL.
        heads: Bytes of the largest head of a request, by host.
    """

    def __init__(self, cases: Iterable[Case], pages: Mapping[str, str]) -> None:
        self.cases = {f"{case.name}.test": case for case in cases}
        self.pages = pages
        self.asked: Counter[str] = Counter()
        self.heads: Counter[str] = Counter()
        self._over = threading.Event()
        web = self

        class Handler(StreamRequestHandler):
            timeout = 60

            @override
            def handle(self) -> None:
                with suppress(OSError, ValueError):  # the crawler closes the connection
                    while first := self.rfile.readline(65_536):
                        url = first.split()[1].decode("latin-1")
                        size = 0
                        while line := self.rfile.readline(65_536).strip():
                            size += len(line)
                        host = urlsplit(url).hostname or ""
                        web.heads[host] = max(web.heads[host], size)
                        web.serve(self.connection, url)

        self._server = ThreadingTCPServer(("127.0.0.1", 0), Handler, bind_and_activate=True)
        self._server.daemon_threads = True

    def serve(self, connection: socket.socket, url: str) -> None:
        """Answer a request; raise OSError to end the connection."""
        self.asked[url] += 1
        client = Client(connection, url, self.asked[url], self._over)
        case = self.cases.get(".".join(client.host.split(".")[-2:]))
        if client.path == "/robots.txt":
            if case is not None and case.robots is not None:
                case.robots(client)
            else:
                client.answer("", status="404 Not Found")
        elif case is not None:
            case.act(client)
            raise OSError("one answer a connection")
        elif url in self.pages:
            client.answer(self.pages[url])
        else:
            client.answer("no such page", status="404 Not Found")

    @property
    def proxy(self) -> str:
        """Address for ``http_proxy``."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()
