"""kill -9 loses nothing: a short run of ``benchmarks.crash``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.crash import trial
from tests.crawl.run import MEASURED
from topiccrawl.demo import generate

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.crawl
@pytest.mark.slow
def test_killed_three_times_a_crawl_fetches_every_page_and_stores_every_article_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(MEASURED, raising=False)
    loss = trial(tmp_path, generate(3, 240, traps=False, faults=False), kills=3, seed=7)
    assert (loss.missing, loss.unlike) == ((), ())
    assert loss.articles > 10
    assert loss.refetched <= 3 * 60  # in flight, and what the last 0.3 s had not committed yet
