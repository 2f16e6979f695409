"""Tests of the JSON log: the topic of each line if several crawls run in one process."""

from __future__ import annotations

import asyncio
import io
import json
import logging
from contextvars import Context
from typing import TYPE_CHECKING

import pytest

from topiccrawl.extensions.jsonlog import JsonLog

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """Return the stream to which the root logger writes."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    root = logging.getLogger()
    former = {known: known.formatter for known in root.handlers}
    root.addHandler(handler)
    yield stream
    root.removeHandler(handler)
    for known, formatter in former.items():
        known.setFormatter(formatter)


def test_lines_have_the_topic_of_their_crawl(written: io.StringIO) -> None:
    async def crawl(topic: str) -> None:
        JsonLog({"topic": topic}, alone=False).begin()
        for _ in range(2):
            await asyncio.sleep(0)
            logging.getLogger("a").warning("of %s", topic)

    async def work() -> None:
        await asyncio.gather(crawl("足球"), crawl("railway"))
        logging.getLogger("a").warning("of no crawl")

    asyncio.run(work())
    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    assert len(lines) == 5
    assert {(line["message"], line.get("topic")) for line in lines} == {
        ("of 足球", "足球"), ("of railway", "railway"), ("of no crawl", None),
    }  # fmt: skip


def test_line_outside_of_a_single_crawl_has_its_topic(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    record = logging.makeLogRecord({"msg": "Received SIGTERM", "levelname": "INFO"})
    monkeypatch.setattr(logging.getLogger(), "handlers", [handler := logging.NullHandler()])
    for alone, topic in ((False, None), (True, "足球")):
        Context().run(JsonLog({"topic": "足球"}, alone=alone).begin)
        assert json.loads(handler.format(record)).get("topic") == topic
