"""A crawl ends when its queue promises too little, and the next run can continue it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lab.demo import generate
from lab.demo.crawl import options
from lab.demo.server import DemoServer
from tests.crawl.run import run

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.crawl, pytest.mark.slow]


FIXED_ORDER = {
    "CONCURRENT_REQUESTS": "1",  # the order does not depend on the answers' times
    "SCRAPER_SLOT_MAX_ACTIVE_SIZE": "0",  # no request is sent while a page is scraped
    "TOPICCRAWL_ADAPTATION": "off",  # a change applies once it is stored
    "TOPICCRAWL_DOMAIN_SHARE": "0",  # these three wait for some time
    "ROBOTSTXT_OBEY": "0",
    "RETRY_ENABLED": "0",
}
"""Settings that make the order independent of time, so that all runs fetch the same pages."""


@pytest.mark.usefixtures("no_coverage")
def test_crawl_ends_with_most_relevant_pages_and_can_continue(tmp_path: Path) -> None:
    web = generate(5, 600, traps=False, faults=False)
    arguments = ("crawl", "topic", "-a", f"topic={web.topic}", "-a", f"seeds={','.join(web.seeds)}")
    plain = (*arguments, *options(FIXED_ORDER), "-s", "TOPICCRAWL_EXTRACT=0")
    careful = ("-s", "TOPICCRAWL_STOP_YIELD=0.05", "-s", "TOPICCRAWL_STOP_WINDOW=165")
    with DemoServer(web, log=tmp_path / "log.tsv") as server:
        status, out = run(server.proxy, tmp_path / "data", *plain, *careful)
        first = figures(out)
        assert status == 0, out[-3000:]
        assert "is below TOPICCRAWL_STOP_YIELD" in out
        status, out = run(server.proxy, tmp_path / "data", *plain)
        rest = figures(out)
        assert status == 0, out[-3000:]
        assert "no URLs left to fetch" in out
    assert first["pages"] < 0.7 * (first["pages"] + rest["pages"])
    assert first["relevant"] > 0.9 * (first["relevant"] + rest["relevant"])


def figures(out: str) -> dict[str, int]:
    """Return the numbers of pages and relevant pages, from the logged stats of a run."""
    found = {}
    for name in ("pages", "relevant"):
        (line,) = [line for line in out.splitlines() if f"'topiccrawl/{name}':" in line]
        found[name] = int(line.partition(": ")[2].rstrip(",}"))
    return found
