"""Tests of the event stream: the full state, then its changes, until the server stops."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest

from tests.waiting import PATIENCE, soon
from topiccrawl.addons.dashboard import channel
from topiccrawl.addons.dashboard.address import Address
from topiccrawl.addons.dashboard.guard import Guard
from topiccrawl.addons.dashboard.server import DashboardServer
from topiccrawl.errors import StorageError

if TYPE_CHECKING:
    from topiccrawl.storage.contract import Listed
    from topiccrawl.storage.runs import State


class ChangingSource:
    """A source of one number; reading fails while `broken` is set."""

    def __init__(self) -> None:
        self.number = self.reads = 0
        self.broken = False

    async def state(self, crawl: str) -> State:
        self.reads += 1
        if self.broken:
            raise StorageError("away")
        return {"run": {"topic": "t"}, "number": self.number}

    async def states(self) -> list[State]:
        return []

    async def articles(self, crawl: str, offset: int, limit: int) -> tuple[int, list[Listed]]:
        return 0, []

    async def more(self, crawl: str) -> State:
        return {}


async def read(server: DashboardServer, lines: list[Any]) -> None:
    """Collect the events of a stream to its end; a comment is None."""
    url = f"http://127.0.0.1:{server.address.port}/api/events"
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        assert answer.headers["X-Accel-Buffering"] == "no", "nginx passes events on at once"
        async for line in answer.content:
            if line.strip():
                event = json.loads(line[6:]) if line.startswith(b"data: ") else None
                lines.append(event)


@pytest.fixture
def short_poll(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel, "POLL_SECONDS", 0.05)


@pytest.mark.usefixtures("short_poll")
def test_each_reader_gets_the_full_state_and_all_later_changes() -> None:
    async def check() -> None:
        source = ChangingSource()
        server = DashboardServer(source, Guard(Address("127.0.0.1", 0)))
        await server.start()
        one: list[Any] = []
        other: list[Any] = []
        readers = [asyncio.create_task(read(server, one))]
        await soon(lambda: len(one) == 1)
        source.number = 1
        await soon(lambda: len(one) == 2)
        readers.append(asyncio.create_task(read(server, other)))
        await soon(lambda: len(other) == 1)
        source.broken = True
        reads = source.reads
        await soon(lambda: source.reads > reads)
        source.broken, source.number = False, 2
        await soon(lambda: len(one) == 3 and len(other) == 2)
        source.number = 3
        await server.stop()
        await asyncio.wait_for(asyncio.gather(*readers), PATIENCE)
        whole = {"run": {"topic": "t"}, "number": 0}
        assert one == [whole, {"number": 1}, {"number": 2}, {"number": 3}]
        assert other == [{**whole, "number": 1}, {"number": 2}, {"number": 3}]

    asyncio.run(check())


@pytest.mark.usefixtures("short_poll")
def test_idle_stream_is_kept_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel, "KEEPALIVE_SECONDS", 0.1)

    async def check() -> None:
        server = DashboardServer(ChangingSource(), Guard(Address("127.0.0.1", 0)))
        await server.start()
        lines: list[Any] = []
        reader = asyncio.create_task(read(server, lines))
        await soon(lambda: lines[1:3] == [None, None])
        await server.stop()
        await asyncio.wait_for(reader, PATIENCE)

    asyncio.run(check())


@pytest.mark.usefixtures("short_poll")
def test_reader_that_disconnects_makes_room_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel, "KEEPALIVE_SECONDS", 0.1)
    monkeypatch.setattr("topiccrawl.addons.dashboard.server.MAX_STREAMS", 1)

    async def check() -> None:
        server = DashboardServer(ChangingSource(), Guard(Address("127.0.0.1", 0)))
        await server.start()
        url = f"http://127.0.0.1:{server.address.port}/api/events"
        async with asyncio.timeout(PATIENCE), aiohttp.ClientSession() as session:
            async with session.get(url) as one, session.get(url) as other:
                assert (one.status, other.status) == (200, 503)
            status = 0
            while status != 200:
                async with session.get(url) as later:
                    status = later.status
        await server.stop()

    asyncio.run(check())


def test_unreadable_state_is_answered_with_503() -> None:
    async def check() -> None:
        source = ChangingSource()
        source.broken = True
        server = DashboardServer(source, Guard(Address("127.0.0.1", 0)))
        await server.start()
        url = f"http://127.0.0.1:{server.address.port}/api/events"
        async with aiohttp.ClientSession() as session, session.get(url) as answer:
            assert (answer.status, await answer.json()) == (503, {"error": "away"})
        await server.stop()

    asyncio.run(check())


def test_negative_offset_is_refused_with_a_reason() -> None:
    async def check() -> None:
        server = DashboardServer(ChangingSource(), Guard(Address("127.0.0.1", 0)))
        await server.start()
        url = f"http://127.0.0.1:{server.address.port}/api/articles?offset=-1"
        async with aiohttp.ClientSession() as session, session.get(url) as answer:
            assert answer.status == 400
            assert "whole numbers" in (await answer.json())["error"]
        await server.stop()

    asyncio.run(check())


@pytest.mark.parametrize(("installed", "status"), [(True, 200), (False, 501)])
def test_metrics_need_prometheus_client(
    installed: bool,  # noqa: FBT001 - a parameter of the test
    status: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("topiccrawl.addons.dashboard.server.available", lambda: installed)

    async def check() -> None:
        server = DashboardServer(ChangingSource(), Guard(Address("127.0.0.1", 0)))
        await server.start()
        url = f"http://127.0.0.1:{server.address.port}/metrics"
        async with aiohttp.ClientSession() as session, session.get(url) as answer:
            assert answer.status == status
        await server.stop()

    asyncio.run(check())
