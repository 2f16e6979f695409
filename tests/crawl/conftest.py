"""Fixtures of the crawl tests."""

from __future__ import annotations

import pytest

from tests.crawl.run import MEASURED


@pytest.fixture
def no_coverage(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run crawls without coverage, which doubles their time; other tests cover the same code."""
    monkeypatch.delenv(MEASURED, raising=False)
