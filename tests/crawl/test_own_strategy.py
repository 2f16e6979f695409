"""A link strategy of the user, by its dotted path, in crawls, commands and replays."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from lab.demo import generate
from tests.crawl.run import run
from tests.crawl.web import Web, article

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.crawl, pytest.mark.usefixtures("no_coverage")]

OWN = "examples.link_strategy.UrlWords"
SITE = "http://news.test"
TEXT = "新能源汽车的动力电池今天有了新进展，充电桩建设加快，电动汽车销量继续增长。"
CRAWL = ("crawl", "topic", "-a", "topic=新能源汽车", "-a", f"seeds={SITE}/")


@pytest.mark.slow
def test_crawl_and_commands_use_own_strategy(tmp_path: Path) -> None:
    data, other, export = tmp_path / "data", tmp_path / "other", tmp_path / "export.jsonl"
    first = f"{SITE}/新能源汽车/2"
    pages = {
        f"{SITE}/": article("新能源汽车频道", TEXT, f"{SITE}/gossip/1", first),
        f"{SITE}/gossip/1": article("另一件事", "别的事情。" * 20),
        first: article("新能源汽车下乡", TEXT + "二。"),
    }
    with Web(pages) as web:
        status, out = run(web.proxy, data, *CRAWL, TOPICCRAWL_STRATEGY=OWN, CONCURRENT_REQUESTS="1")
        assert status == 0, out[-3000:]
        assert [hit.url for hit in web.hits if "gossip" in hit.url] == [web.hits[-1].url]
        status, out = run(web.proxy, data, "why", first)  # the frontier knows its strategy
        assert status == 0, out
        assert [line.split()[0] for line in out.splitlines() if line.startswith("  words")]
        status, out = run(web.proxy, data, *CRAWL, TOPICCRAWL_STRATEGY="best-first")
        assert (status, "fresh=1" in out) == (1, True), out[-3000:]
        assert run(web.proxy, data, "frontier", "export", str(export))[0] == 0
        status, out = run(web.proxy, other, "frontier", "import", str(export))
        assert (status, f"TOPICCRAWL_STRATEGY={OWN}" in out) == (1, True), out
        imported = ("frontier", "import", str(export))
        status, out = run(web.proxy, other, *imported, TOPICCRAWL_STRATEGY=OWN)
        assert (status, "3 URLs" in out) == (0, True), out


def test_replay_uses_own_strategy(tmp_path: Path) -> None:
    demo, order = tmp_path / "demo.web.jsonl.gz", tmp_path / "order.jsonl"
    generate(5, 120, traps=False, faults=False).write_collection(demo)
    truth = demo.with_name("demo.topics.json")
    arguments = ("simulate", str(demo), "--truth", str(truth), "--order", str(order))
    status, out = run("", tmp_path / "data", *arguments, "--strategy", OWN, "--strategy", "bfs")
    assert status == 0, out
    own, plain = map(json.loads, order.read_text(encoding="utf-8").splitlines())
    assert (own["strategy"], plain["strategy"]) == (OWN, "bfs")
    assert own["area"] > plain["area"]


def test_invalid_strategy_path_is_reported_in_one_line(tmp_path: Path) -> None:
    wrong = "examples.link_strategy.Nothing"
    replay = ("simulate", "no.web.jsonl.gz", "--topic", "足球", "--strategy", wrong)
    for arguments, expected in ((CRAWL, 2), (replay, 1)):
        status, out = run("", tmp_path / "data", *arguments, TOPICCRAWL_STRATEGY=wrong)
        assert status == expected
        assert f"{wrong!r} cannot be loaded" in out
        assert "Traceback" not in out
