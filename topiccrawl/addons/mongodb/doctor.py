"""Examination of the MongoDB server that the settings name."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from topiccrawl.addons.mongodb.storage import mongodb_uri
from topiccrawl.errors import ConfigurationError, StorageError
from topiccrawl.scheduler.findings import Finding, fail, ok, warn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.settings import BaseSettings


SLOW = 2.0
"""Seconds from which an answer slows crawls."""


def examine(settings: BaseSettings) -> Iterator[Finding]:
    """Check that MongoDB answers."""
    uri = mongodb_uri(settings)
    if not uri:
        yield ok("mongodb", "not used (MONGODB_URI is not set): articles in store.sqlite")
        return
    from topiccrawl.addons.mongodb.client import blocking, shown  # noqa: PLC0415

    began = time.perf_counter()
    try:
        with blocking(uri) as database:
            database.command("ping")
            articles = database["articles"].estimated_document_count()
    except (StorageError, ConfigurationError) as error:
        yield fail("mongodb", str(error), "start it, let this machine in, or correct MONGODB_URI")
        return
    spent = time.perf_counter() - began
    slow = f"{shown(uri)}: answers in {spent * 1000:.0f} ms, {articles} articles"
    if spent > SLOW:
        yield warn("mongodb", slow, "a store that is far away slows crawls: see docs/storage.md")
    else:
        yield ok("mongodb", slow)
