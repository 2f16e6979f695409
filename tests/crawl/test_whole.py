"""Tests of the benchmark of whole crawls."""

from pathlib import Path

import pytest

from benchmarks import crawl
from benchmarks.crawl import Trial


@pytest.mark.usefixtures("no_coverage")
@pytest.mark.slow
def test_crawlers_fetch_pages_of_an_endless_web(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crawl, "BODIES", 10)
    crawl.bodies.cache_clear()
    for trial in (Trial("whole_all", 0), Trial("whole_tenth", 1)):
        pages, seconds, _ = crawl.crawl(trial, 10, tmp_path)
        assert pages == 10
        assert seconds > 0.0
    assert crawl.crawl(Trial(crawl.PEER), 30, tmp_path).pages > 5
    assert crawl.crawl(Trial(crawl.FETCH), 60, tmp_path).pages > 20
    crawl.bodies.cache_clear()


@pytest.mark.usefixtures("no_coverage")
@pytest.mark.slow
def test_crawl_continues_with_a_filled_queue(tmp_path: Path) -> None:
    trial = Trial("judged", 0)
    crawl.filled(crawl.data(trial, 5, tmp_path), 300)
    assert crawl.crawl(trial, 5, tmp_path).pages == 5
