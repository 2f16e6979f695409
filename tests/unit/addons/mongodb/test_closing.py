"""Test of closing the connection while the server is away."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pymongo", reason="the extra mongodb is not installed")

from pymongo.errors import PyMongoError

from tests.mongo_server import MongoServer
from topiccrawl.addons.mongodb.client import Server

if TYPE_CHECKING:
    from pathlib import Path


def test_closing_does_not_wait_for_a_suspended_server(tmp_path: Path) -> None:
    mongo = MongoServer(tmp_path)
    mongo.start()
    try:
        asyncio.run(_close_without(mongo))
    finally:
        mongo.kill()


async def _close_without(mongo: MongoServer) -> None:
    server = Server(f"{mongo.uri}&timeoutMS=500")
    server.connect()
    await asyncio.gather(*(server.articles.find_one() for _ in range(5)))  # opens sessions
    assert mongo.process is not None
    mongo.process.send_signal(signal.SIGSTOP)
    await asyncio.to_thread(
        os.waitpid, mongo.process.pid, os.WUNTRACED
    )  # it may answer until it has stopped
    with pytest.raises(PyMongoError):
        await server.articles.find_one()
    async with asyncio.timeout(20):  # the driver's own limit is 30 s
        await server.close()
