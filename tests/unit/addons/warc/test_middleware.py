"""Test of the archive's middleware on a disk that fails."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING

from scrapy import Request
from scrapy.http import Response

from topiccrawl.addons.warc.archive import Archive
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
