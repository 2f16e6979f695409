"""Check of the MongoDB server of the settings."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from topiccrawl.addons.mongodb.storage import mongodb_uri
from topiccrawl.errors import TopiccrawlError
from topiccrawl.messages import localize, tr
from topiccrawl.scheduler.findings import Finding, fail, ok, warn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.settings import BaseSettings


SLOW = 2.0
"""Response time in seconds from which the store slows crawls."""


def examine(settings: BaseSettings) -> Iterator[Finding]:
    """Check that MongoDB responds and that its user may write."""
    uri = mongodb_uri(settings)
    if not uri:
        yield ok("mongodb", tr("not used (MONGODB_URI is not set)"))
        return
    from pymongo import MongoClient  # noqa: PLC0415

    from topiccrawl.addons.mongodb.client import SCHEMA, Server, version_in  # noqa: PLC0415

    began = time.perf_counter()
    try:
        server = Server(uri)
        with server.translated("use the store"), MongoClient(uri, **server.options) as client:
            database = client[server.name]
            database["meta"].delete_one({"_id": "doctor"})  # deletes nothing, needs write rights
            version_in(database["meta"].find_one(SCHEMA), server.shown)
            articles = database["articles"].estimated_document_count()
    except TopiccrawlError as error:
        remedy = tr("start it, allow this machine to connect, or correct MONGODB_URI")
        yield fail("mongodb", localize(error), remedy)
        return
    seconds = time.perf_counter() - began
    text = tr(
        "{name}: responds in {ms:.0f} ms, {articles} articles",
        name=server.shown, ms=seconds * 1000, articles=articles,
    )  # fmt: skip
    if seconds > SLOW:
        yield warn("mongodb", text, tr("a slow store slows crawls: see docs/storage.md"))
    else:
        yield ok("mongodb", text)
