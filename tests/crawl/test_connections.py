"""Idle connections of a scheme take at most a quarter of the files that a process may open."""

from __future__ import annotations

import asyncio
import resource
import socket
import ssl
import subprocess
import sys
import threading
from contextlib import AsyncExitStack, closing, contextmanager, suppress
from shutil import which
from typing import TYPE_CHECKING

import pytest

from tests.crawl.run import exit_status, running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.crawl

SITES, FILES = 160, 200
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nok"


class Sites:
    """Servers of one page each, on ports of their own, that close no connection.

    They answer together, ten times a second: many connections become idle at once. With a folder,
    which gets a certificate, they use TLS, and read nothing after their answer.

    Attributes:
        ports: Their ports.
        most: Most connections that were open at once.
        answers: Number of answers.
    """

    def __init__(self, folder: Path | None) -> None:
        self._tls: ssl.SSLContext | None = None
        if folder is not None:
            files = (folder / "cert.pem", folder / "key.pem")
            options = f"-newkey rsa:2048 -nodes -subj /CN=a -out {files[0]} -keyout {files[1]}"
            command = ["openssl", "req", "-x509", *options.split()]
            subprocess.run(command, check=True, capture_output=True)
            self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._tls.load_cert_chain(*files)
        self.ports: list[int] = []
        self.most = self.answers = 0
        self._open: set[asyncio.StreamWriter] = set()
        self._waiting: list[asyncio.StreamWriter] = []

    async def run(self, started: threading.Event) -> None:
        """Serve until the task is cancelled."""
        async with AsyncExitStack() as stack:
            for _ in range(SITES):
                server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls)
                await stack.enter_async_context(server)
                self.ports.append(server.sockets[0].getsockname()[1])
            started.set()
            try:
                await self._answer()
            finally:  # without reading, an end of the client is not noticed
                for writer in self._open:
                    writer.transport.abort()
                closed = (writer.wait_closed() for writer in self._open)
                await asyncio.gather(*closed, return_exceptions=True)

    async def _answer(self) -> None:
        while True:
            await asyncio.sleep(0.1)
            self.most = max(self.most, sum(map(is_open, self._open)))
            for writer in self._waiting:
                writer.write(ANSWER)
            self.answers += len(self._waiting)
            self._waiting.clear()

    async def _serve(self, stream: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            while True:
                await stream.readuntil(b"\r\n\r\n")
                if self._tls:
                    writer.transport.pause_reading()  # type: ignore[attr-defined]
                self._waiting.append(writer)
        except (EOFError, ConnectionError):
            writer.close()
        self._open.discard(writer)


def is_open(writer: asyncio.StreamWriter) -> bool:
    """Return whether the client has neither closed nor reset the connection."""
    connection = writer.get_extra_info("socket")
    if connection is None or connection.fileno() == -1:  # lost, and `_serve` has not resumed yet
        return False
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)
    return bool(info[0] == 1)


@contextmanager
def serving(folder: Path | None) -> Iterator[Sites]:
    loop, sites, started = asyncio.new_event_loop(), Sites(folder), threading.Event()
    task = loop.create_task(sites.run(started))

    def run() -> None:
        with suppress(asyncio.CancelledError), closing(loop):
            loop.run_until_complete(task)

    thread = threading.Thread(target=run)
    thread.start()
    started.wait()
    try:
        yield sites
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join()


@pytest.mark.skipif(sys.platform != "linux", reason="needs prlimit and TCP_INFO")
@pytest.mark.parametrize(
    "scheme",
    [
        "http",
        pytest.param("https", marks=pytest.mark.skipif(not which("openssl"), reason="no openssl")),
    ],
)
def test_idle_connections_leave_most_of_the_files(tmp_path: Path, scheme: str) -> None:
    with serving(tmp_path if scheme == "https" else None) as sites:
        seeds = ",".join(f"{scheme}://127.0.0.1:{port}/" for port in sites.ports)
        crawl = ("crawl", "topic", "-a", "topic=足球", "-a", f"seeds={seeds}")
        with running("", tmp_path / "data", *crawl, ROBOTSTXT_OBEY="0") as process:
            resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (FILES, FILES))
            exit_status(process, tmp_path / "data")
        assert sites.answers == SITES
        # pages in flight, and connections that are being closed
        assert sites.most <= FILES // 4 + 2 * 16
