"""Tests of archived copies: look-up by URL, and display without active content."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from scrapy.settings import Settings

from tests.unit.addons.warc.test_archive import exchange
from topiccrawl.addons.dashboard.address import Address
from topiccrawl.addons.dashboard.guard import Guard
from topiccrawl.addons.warc.archive import Archive
from topiccrawl.addons.warc.copies import POLICY, copies, read
from topiccrawl.addons.warc.dashboard import routes
from topiccrawl.storage.ledger import LocalLedger

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

PAGES = 300


def archive_of_pages(folder: Path) -> Path:
    archive = Archive(folder, size=20_000)  # several files
    archive.open()
    for number in range(PAGES):
        archive.write(exchange(number))
    archive.write(exchange(7)._replace(at=1.7e9))  # the same body, later
    archive.write(exchange(7)._replace(url="http://a.test/same"))  # in the same second
    archive.write(exchange(8)._replace(at=1.7e9, status=404))
    image = exchange(1)._replace(url="http://a.test/i", headers=(("Content-Type", "image/png"),))
    archive.write(image._replace(body=b"png"))
    archive.close()
    return folder


def serve(folder: Path, act: Callable[[TestClient[Any, Any]], Awaitable[None]]) -> None:
    async def served() -> None:
        app = web.Application(middlewares=[Guard(Address()).middleware])
        app.add_routes(routes(Settings({"WARC_DIR": str(folder)}), LocalLedger(folder)))
        async with TestClient(TestServer(app)) as client:
            await act(client)

    asyncio.run(served())


def test_every_archived_page_is_found_and_no_other(tmp_path: Path) -> None:
    folder = archive_of_pages(tmp_path)
    assert len(list(folder.glob("*.cdxj"))) > 3
    for number in range(PAGES):
        found = copies(folder, exchange(number).url)
        assert len(found) == (2 if number == 7 else 1), number
        archived = read(folder, found[0])
        assert archived is not None
        assert archived.body == exchange(number).body
    (same,) = copies(folder, "http://a.test/same")
    archived = read(folder, same)
    assert archived is not None
    assert archived.body == exchange(7).body
    for url in ("http://a.test/", "http://a.test/3000", "http://b.test/1", "http://www.a.test/1"):
        assert copies(folder, url) == []


def test_pages_are_shown_without_scripts_and_files_downloaded(tmp_path: Path) -> None:
    async def act(client: TestClient[Any, Any]) -> None:
        url = exchange(7).url
        async with client.get("/api/copies", params={"url": url}) as answer:
            assert await answer.json() == ["20231114221320", "20200913122647"]
        async with client.get("/api/copy", params={"url": url}) as answer:
            assert answer.headers["Content-Type"] == "text/html; charset=gbk"
            assert answer.headers["Content-Security-Policy"] == POLICY
            assert answer.headers["X-Frame-Options"] == "DENY"
            assert "第7页" in await answer.text()
        async with client.get("/api/copy", params={"url": "http://a.test/i"}) as answer:
            assert answer.headers["Content-Type"] == "application/octet-stream"
            assert answer.headers["Content-Disposition"] == "attachment"
        for given in ({"url": "http://b.test/"}, {"url": url, "at": "1999"}, {"url": "x"}, {}):
            async with client.get("/api/copy", params=given) as answer:
                assert answer.status == 404

    serve(archive_of_pages(tmp_path), act)


def test_without_an_archive_there_are_no_copies(tmp_path: Path) -> None:
    async def act(client: TestClient[Any, Any]) -> None:
        async with client.get("/api/copies", params={"url": "http://a.test/"}) as answer:
            assert await answer.json() == []

    serve(tmp_path / "none", act)
