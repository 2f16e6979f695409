"""The benchmark of whole crawls."""

from pathlib import Path

import pytest

from benchmarks.crawl import PEER, crawl


@pytest.mark.usefixtures("unmeasured")
def test_crawlers_get_the_pages_of_a_web_without_end(tmp_path: Path) -> None:
    pages, seconds = crawl("crawl_whole", 25, tmp_path)
    assert pages == 25
    assert seconds > 0.0
    assert crawl(PEER, 60, tmp_path)[0] > 25
