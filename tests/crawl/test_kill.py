"""kill -9 loses nothing: a short run of ``benchmarks.crash``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.crash import trial
from lab.demo import generate
from tests.crawl.run import MEASURED

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.usefixtures("no_coverage")
@pytest.mark.crawl
@pytest.mark.slow
def test_crawl_killed_three_times_fetches_and_stores_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(MEASURED, raising=False)
    loss = trial(tmp_path, generate(3, 240, traps=False, faults=False), kills=3, seed=7)
    assert (loss.missing, loss.unlike) == ((), ())
    assert loss.articles > 10
    assert loss.refetched <= 3 * 60  # in flight, or not committed in the last 0.3 s
