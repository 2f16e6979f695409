"""Tests of the middleware that archives responses."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING

from scrapy import Request
from scrapy.http import Response

from topiccrawl.addons.warc.archive import Archive, LatestPages
from topiccrawl.addons.warc.middleware import ArchiveMiddleware

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

URL = "http://a.test/1"


def test_page_that_cannot_be_archived_is_named_with_a_remedy(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    counts: Counter[str] = Counter()
    folder = tmp_path / "warc"
    middleware = ArchiveMiddleware(Archive(folder), lambda name: counts.update([name]))
    folder.rmdir()
    folder.touch()  # as a full disk, on which no file can be created
    response = Response(URL, body=b"text")

    async def crawl() -> None:
        assert await middleware.process_response(Request(URL), response) is response
        await middleware.close()

    asyncio.run(crawl())
    assert counts == {"failed": 1}
    (line,) = caplog.messages
    assert line.startswith(f"{URL} was not archived: {folder}: cannot be written: ")
    assert "free disk space or allow writing there" in line


def test_headers_of_any_bytes_are_archived(tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    url, headers = "http://a.test/", {b"X-\xdc\xe4": b"\xe4\xff", b"\xd6": b"", b"Etag": b"1"}

    async def act() -> None:
        middleware = ArchiveMiddleware(Archive(tmp_path), lambda name: counts.update([name]))
        response = Response(url, body=b"page", headers=headers)
        assert await middleware.process_response(Request(url), response) is response
        await middleware.close()

    asyncio.run(act())
    assert counts == {"written": 1}
    exchange = LatestPages(tmp_path.glob("*.warc.gz")).get(url)
    assert exchange is not None
    assert exchange.body == b"page"
    assert ("Etag", "1") in exchange.headers
