"""The benchmark of whole crawls."""

from pathlib import Path

import pytest

from benchmarks import crawl


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.slow
def test_crawlers_get_the_pages_of_a_web_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crawl, "BODIES", 5)
    pages, seconds = crawl.crawl("crawl_whole", 10, tmp_path)
    assert pages == 10
    assert seconds > 0.0
    assert crawl.crawl(crawl.PEER, 30, tmp_path)[0] > 5
