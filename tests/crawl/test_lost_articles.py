"""Articles lost with a damaged write-ahead log are reported and fetched again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lab.demo import DemoServer, generate
from tests.crawl.run import log_of, run, running, stored
from tests.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.crawl, pytest.mark.slow]

SLOW = {"DOWNLOAD_DELAY": "0.05", "CONCURRENT_REQUESTS_PER_DOMAIN": "1"}


def acknowledged(data: Path) -> set[str]:
    """Return the URLs that the crawl has recorded as stored."""
    files = (data / "acknowledged").glob("*.urls")
    return {url for file in files for url in file.read_text().splitlines()}


@pytest.mark.usefixtures("no_coverage")
def test_articles_lost_with_a_damaged_log_are_fetched_again(tmp_path: Path) -> None:
    data, web = tmp_path / "data", generate(3, 240, traps=False, faults=False)
    command = ("crawl", "topic", "-a", f"topic={web.topic}", "-a", f"seeds={','.join(web.seeds)}")
    with DemoServer(web) as server:
        with running(server.proxy, data, *command, **SLOW) as crawl:
            until(lambda: len(acknowledged(data)) >= 9, lambda: log_of(data).read_text()[-3000:])
            crawl.kill()
            crawl.wait()
        before, log = acknowledged(data), data / "store.sqlite-wal"
        damage(log, log.stat().st_size // 3)
        status, out = run(server.proxy, data, *command)
        assert status == 0, out[-3000:]
        assert "The store has lost" in out
        assert before <= set(stored(data))
    assert not acknowledged(data)


def damage(file: Path, at: int) -> None:
    """Overwrite some bytes."""
    with file.open("r+b") as opened:
        opened.seek(at)
        opened.write(b"damaged" * 99)
