"""What crawls in tests share."""

from __future__ import annotations

import pytest

from tests.crawl.run import MEASURED


@pytest.fixture
def unmeasured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Crawls are not measured by coverage, which costs half their time: others show the same."""
    monkeypatch.delenv(MEASURED, raising=False)
