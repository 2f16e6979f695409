"""A backup of a running crawl is restored in another folder and continued."""

from __future__ import annotations

import shutil
import threading
import time
from typing import TYPE_CHECKING

import pytest

from tests.crawl.run import exit_status, log_of, run, running, stored
from tests.crawl.web import Answer, Page, Web, article
from tests.waiting import PATIENCE

if TYPE_CHECKING:
    from http.server import BaseHTTPRequestHandler
    from pathlib import Path

pytestmark = pytest.mark.crawl

SITE = "http://news.test"
PAGES = 80
TEXT = "新能源汽车的动力电池今天有了新进展，充电桩建设加快，电动汽车销量继续增长。第{}次报道。"


def pages(released: threading.Event) -> dict[str, Page]:
    """Return a chain of articles; the last one is answered only when ``released`` is set."""

    def last(_: BaseHTTPRequestHandler) -> Answer:
        released.wait(PATIENCE)
        return Answer(article(f"新能源汽车报道 {PAGES - 1}", TEXT.format(PAGES - 1) * 2))

    found: dict[str, Page] = {}
    for number in range(PAGES):
        links = [f"{SITE}/{next_}" for next_ in range(number + 1, min(number + 4, PAGES))]
        body = article(f"新能源汽车报道 {number}", TEXT.format(number) * 2, *links)
        found[f"{SITE}/{number}"] = body
    found[f"{SITE}/{PAGES - 1}"] = last
    return found


@pytest.mark.slow
@pytest.mark.usefixtures("no_coverage")
def test_crawl_continues_from_a_backup_of_the_running_crawl(tmp_path: Path) -> None:
    data, copy, file = tmp_path / "data", tmp_path / "copy", tmp_path / "crawl.tar.gz"
    crawl = ("crawl", "topic", "-a", "topic=新能源汽车", "-a", f"seeds={SITE}/0")
    slow = {"CONCURRENT_REQUESTS_PER_DOMAIN": "1"}
    copied = threading.Event()
    with Web(pages(copied)) as web:
        with running(web.proxy, data, *crawl, **slow) as process:
            until_hits(web, PAGES // 4)
            status, out = run(web.proxy, data, "backup", str(file))
            assert (status, process.poll()) == (0, None), out
            copied.set()
            assert exit_status(process, data) == 0, log_of(data).read_text()[-3000:]
        whole = stored(data)
        shutil.rmtree(data)
        web.hits.clear()
        status, out = run(web.proxy, copy, "restore", str(file))
        assert status == 0, out
        status, out = run(web.proxy, copy, "frontier", "stats")
        assert (status, "crawled" in out) == (0, True), out
        before = stored(copy)
        assert 0 < len(before) < len(whole) == PAGES
        status, out = run(web.proxy, copy, *crawl, **slow)
        again = {hit.url for hit in web.hits}
    assert (status, "Traceback" in out) == (0, False), out[-3000:]
    assert stored(copy) == whole
    assert len(again - {f"{SITE}/robots.txt"}) < PAGES - len(before) + 16, "it was resumed"
    assert run(web.proxy, copy, "restore", str(file))[0] == 1


def until_hits(web: Web, number: int) -> None:
    """Wait until the web has received a number of requests."""
    end = time.monotonic() + PATIENCE
    while len(web.hits) < number:
        assert time.monotonic() < end
        time.sleep(0.01)
