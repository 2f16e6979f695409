"""Idle connections take at most half of the files that a process may open."""

from __future__ import annotations

import asyncio
import resource
import threading
from contextlib import AsyncExitStack, closing, contextmanager, suppress
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

    Attributes:
        ports: Their ports.
        most: Most connections that were open at once.
        answers: Number of answers.
    """

    def __init__(self) -> None:
        self.ports: list[int] = []
        self.most = self.answers = self._open = 0

    async def run(self, started: threading.Event) -> None:
        """Serve until the task is cancelled."""
        async with AsyncExitStack() as stack:
            for _ in range(SITES):
                server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
                await stack.enter_async_context(server)
                self.ports.append(server.sockets[0].getsockname()[1])
            started.set()
            await asyncio.Event().wait()

    async def _serve(self, stream: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open += 1
        self.most = max(self.most, self._open)
        try:
            while True:
                await stream.readuntil(b"\r\n\r\n")
                self.answers += 1
                writer.write(ANSWER)
        except (EOFError, ConnectionError):
            writer.close()
        self._open -= 1


@contextmanager
def serving() -> Iterator[Sites]:
    loop, sites, started = asyncio.new_event_loop(), Sites(), threading.Event()
    task = loop.create_task(sites.run(started))

    def run() -> None:
        with suppress(asyncio.CancelledError), closing(loop):
            loop.run_until_complete(task)

    thread = threading.Thread(target=run)
    thread.start()
    started.wait()
    yield sites
    loop.call_soon_threadsafe(task.cancel)
    thread.join()


def test_idle_connections_leave_half_of_the_files(tmp_path: Path) -> None:
    with serving() as sites:
        seeds = ",".join(f"http://127.0.0.1:{port}/" for port in sites.ports)
        crawl = ("crawl", "topic", "-a", "topic=足球", "-a", f"seeds={seeds}")
        with running("", tmp_path / "data", *crawl, ROBOTSTXT_OBEY="0") as process:
            resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (FILES, FILES))
            exit_status(process, tmp_path / "data")
        assert sites.answers == SITES
        assert (
            sites.most <= FILES // 2 + 30
        )  # pages in flight, and connections that are being closed
