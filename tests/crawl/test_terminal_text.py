"""Control characters of pages reach neither terminal nor log."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.crawl.run import run
from tests.crawl.web import Web, article

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.crawl

SITE = "http://news.test"
EVIL = "\x1b]0;owned\x07\x9b2J\u202egnp\u2066\x7f"
TEXT = f"新能源汽车的动力电池今天有了{EVIL}新进展，充电桩建设加快，电动汽车销量继续增长。"
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@pytest.mark.slow
def test_output_has_no_control_characters_of_pages(tmp_path: Path) -> None:
    pages = {
        f"{SITE}/": article(f"新能源汽车频道{EVIL}", TEXT, f"{SITE}/1", f"{SITE}/2"),
        f"{SITE}/1": article(f"新能源汽车{EVIL}要闻", f"{TEXT}一。"),
    }
    data = tmp_path / "data"
    with Web(pages) as web:
        crawl = ("crawl", "topic", "-a", f"topic=新能源汽车{EVIL}", "-a", f"seeds={SITE}/")
        status, out = run(web.proxy, data, *crawl, LOG_LEVEL="DEBUG")
    assert status == 0, out[-3000:]
    assert CONTROL.findall(out) == []
    for command in (
        ("articles", "list"), ("articles", "show", f"{SITE}/1"), ("articles", "export", "-"),
        ("why", f"{SITE}/1"), ("frontier", "export", "-"), ("articles", "show", EVIL),
    ):  # fmt: skip
        _, out = run("", data, *command, LOG_ENABLED="0")
        assert (bool(out), CONTROL.findall(out)) == (True, []), command
