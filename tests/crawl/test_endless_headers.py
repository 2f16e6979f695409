"""Endless headers and tiny chunks end as errors, and the crawl continues."""

from __future__ import annotations

import gzip
import socketserver
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from typing_extensions import override

from tests.crawl.run import run
from tests.waiting import until
from topiccrawl.scheduler.frontiers import read_frontier

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.crawl

MAX_SENT = 64 << 20
"""Bytes after which the server stops sending."""
MAX_BUFFERED = 16 << 20
"""Maximum bytes in the buffers of both systems when the client closes the connection."""
OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
ENDLESS = {
    "/many": (OK, b"".join(b"X-%d: %s\r\n" % (i, b"a" * 900) for i in range(64))),
    "/folded": (OK + b"X-Long: a\r\n", b" folded\r\n" * 1000),
    "/informed": (b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 1000),
    "/nameless": (OK, b"no colon\r\n" * 1000),
    "/small": (OK, b"a:\r\n" * 1000),
}
ENDED = {
    "/location": (
        b"HTTP/1.1 302 Found\r\nLocation: /" + b"%s\r\n " % (b"x" * 1000) * 20 + b"\r\n",
        "headers-too-large",
    ),
    "/name": (OK + b"X" * 300 + b": 1\r\n", "headers-too-large"),
    "/status": (b"HTTP/1.1 1000 OK\r\n", "download-failed"),
    "/encodings": (OK + b"Content-Encoding: gzip, gzip, gzip\r\n" * 2, "many-encodings"),
}
"""Heads that have an end, and the reasons of their failure."""
CHUNKS = OK + b"Transfer-Encoding: chunked\r\n\r\n"
SMALL = b"4\r\n<p>x\r\n" * 1000
PACKED = gzip.compress(b"ok")
ODD = b": nameless\r\nCache Control: no\r\nX-\xe4: 1\r\nContent-Length : %d\r\n" % len(PACKED)
ENCODING = b"Content-Encoding: gzip,,,,\r\n"  # one encoding: empty members do not count
LARGE = OK + b"X-Large: %s\r\n" % (b"a" * 10_000) * 20 + ODD + ENCODING + b"\r\n" + PACKED


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.sent: dict[str, int] = {}


class Handler(socketserver.StreamRequestHandler):
    @override
    def handle(self) -> None:
        path = self.rfile.readline().split()[1].decode()
        while self.rfile.readline().strip():
            pass
        head, repeated = {**ENDLESS, "/chunks": (CHUNKS, SMALL)}.get(path, (LARGE, b""))
        if path in ENDED:
            head = ENDED[path][0] + b"Content-Length: 0\r\n\r\n"
            repeated = b""
        if path == "/robots.txt":
            head, repeated = b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", b""
        sent = len(head)
        try:
            self.wfile.write(head)
            while repeated and sent < MAX_SENT:
                sent += self.connection.send(repeated)
        except OSError:
            pass  # closed by the client
        assert isinstance(self.server, Server)
        self.server.sent[path] = sent


@contextmanager
def serving() -> Iterator[tuple[Server, str]]:
    with Server() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server, f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def test_endless_answers_are_cut_off(tmp_path: Path) -> None:
    with serving() as (server, origin):
        urls = [f"{origin}{path}" for path in (*ENDED, *ENDLESS, "/chunks", "/large")]
        crawl = ("crawl", "topic", "-a", "topic=足球", "-a", "seeds=" + ",".join(urls))
        _, out = run("", tmp_path / "data", *crawl)
        until(lambda: server.sent.keys() >= {*ENDLESS, "/chunks"})
        (folder,) = (tmp_path / "data" / "frontiers").iterdir()
        reports = [read_frontier(folder).why(url) for url in urls]
        reasons = [one and one.reason for one in reports]
        expected = [reason for _, reason in ENDED.values()]
        assert reasons[:-2] == [*expected, *["headers-too-large"] * len(ENDLESS)], out[-4000:]
        assert reasons[-2] == "chunks-too-small"
        assert reports[-1] is not None
        assert reports[-1].queue == "crawled"
        assert max(server.sent.values()) < MAX_BUFFERED
        assert "Traceback" not in out
