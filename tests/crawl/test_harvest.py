"""The harvest rate that a crawl shows agrees with the truth of the demo web."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from lab.demo import generate
from lab.demo.judge import judge
from lab.demo.server import DemoServer
from tests.crawl.run import run, stored
from tests.crawl.web import Web, article
from tests.unit.topics.test_scorer import STORIES

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.crawl


@pytest.mark.usefixtures("no_coverage")
@pytest.mark.slow
def test_harvest_rate_agrees_with_the_truth(tmp_path: Path) -> None:
    web = generate(7, 300, traps=False, faults=False)
    arguments = ("crawl", "topic", "-a", f"topic={web.topic}", "-a", f"seeds={','.join(web.seeds)}")
    log = tmp_path / "log.tsv"
    with DemoServer(web, log=log) as server:
        status, out = run(server.proxy, tmp_path / "data", *arguments)
    assert status == 0, out[-3000:]
    shown = re.search(r"harvest rate (\d+\.\d)%\): (\d+) articles, (\d+) lists", out)
    assert shown is not None, out[-1500:]
    assert float(shown[1]) / 100 == pytest.approx(judge(log, web).harvest_rate, abs=0.03)
    assert int(shown[2]) > int(shown[3]) > 0


def test_only_the_story_on_topic_is_stored(tmp_path: Path) -> None:
    site, data = "http://news.test", tmp_path / "data"
    links = "".join(
        f'<p><a href="/{name}.html">{text[:16]}</a></p>' for name, text in STORIES.items()
    )
    pages = {f"{site}/{name}.html": article(text[:16], text) for name, text in STORIES.items()}
    crawl = ("crawl", "topic", "-a", "topic=人工智能在医疗中的应用", "-a", f"seeds={site}/")
    with Web({f"{site}/": links, **pages}) as web:
        status, out = run(web.proxy, data, *crawl)
    assert status == 0, out[-3000:]
    assert stored(data) == [f"{site}/both.html"]
