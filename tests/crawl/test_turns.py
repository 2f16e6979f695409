"""Large pages leave turns of the event loop to other work."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.crawl.run import run
from tests.crawl.test_endings import why
from tests.crawl.web import Web, article
from topiccrawl.middlewares.lease import MANY_LINKS

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.crawl

SITE = "http://news.test"


@pytest.mark.parametrize(("links", "unrecorded"), [(MANY_LINKS, False), (MANY_LINKS + 1, True)])
def test_other_work_is_done_before_many_links_are_recorded(
    tmp_path: Path, links: int, *, unrecorded: bool
) -> None:
    data, front = tmp_path / "data", f"{SITE}/"
    urls = [f"{SITE}/{n}.html" for n in range(links)]
    with Web({front: article("目录", "", *urls)}) as web:
        options = ("-a", "topic=新能源汽车", "-a", f"seeds={front}")
        _, output = run(web.proxy, data, "crawl", "turns", *options, TOPICCRAWL_HOST_PAGES="1")
    assert why(data, front).queue == "crawled", output
    assert why(data, urls[-1]).queue == "error"  # recorded, beyond TOPICCRAWL_HOST_PAGES
    assert ("'trial/unrecorded': 1" in output) is unrecorded
