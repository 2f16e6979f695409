"""The log as JSON: whose each line is, where several crawls run in one process."""

from __future__ import annotations

import asyncio
import io
import json
import logging
from typing import TYPE_CHECKING

import pytest

from topiccrawl.extensions.jsonlog import JsonLog

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """What the root logger writes."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    root = logging.getLogger()
    former = {one: one.formatter for one in root.handlers}
    root.addHandler(handler)
    yield stream
    root.removeHandler(handler)
    for one, formatter in former.items():
        one.setFormatter(formatter)


def test_lines_tell_their_own_crawl_s_topic(written: io.StringIO) -> None:
    async def crawl(topic: str) -> None:
        JsonLog({"topic": topic}).begin()
        for _ in range(2):
            await asyncio.sleep(0)
            logging.getLogger("a").warning("of %s", topic)

    async def work() -> None:
        await asyncio.gather(crawl("足球"), crawl("railway"))
        logging.getLogger("a").warning("of nobody")

    asyncio.run(work())
    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    assert len(lines) == 5
    assert {(line["message"], line.get("topic")) for line in lines} == {
        ("of 足球", "足球"), ("of railway", "railway"), ("of nobody", None),
    }  # fmt: skip
