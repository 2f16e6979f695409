"""The commands of docs/walks.md work, each walk in a new folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.crawl.run import ROOT
from tests.crawl.test_tutorial import pages
from tests.crawl.web import Web
from tests.waiting import PATIENCE

pytestmark = [pytest.mark.crawl, pytest.mark.slow]

WALKS = re.split(r"^## ", (ROOT / "docs" / "walks.md").read_text("utf-8"), flags=re.MULTILINE)[1:]
FOUND = {
    "The analyst": ["articles.csv", "cars.html"],
    "The operator": ["crawl.html", "crawl.tar.gz", "elsewhere/store.sqlite"],
    "The data engineer": ["articles.parquet", "new.jsonl", "batteries.csv"],
    "The Scrapy user": ["news/found.jsonl", "news/data/store.sqlite"],
}
"""Files that a walk ends with; tables have all six stories."""


@pytest.mark.parametrize("walk", WALKS, ids=lambda walk: str(walk.splitlines()[0]))
def test_commands_of_a_walk_work(walk: str, tmp_path: Path) -> None:
    for name, text in re.findall(r"`([\w.]+)`:\n\n```python\n(.*?)```", walk, re.DOTALL):
        (tmp_path / name).write_text(text, encoding="utf-8")
    script = "".join(re.findall(r"```sh\n(.*?)```", walk, re.DOTALL))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with Web(pages()) as web:
        proxies = {"http_proxy": web.proxy, "https_proxy": web.proxy, "no_proxy": ""}
        environment = {**os.environ, **proxies, "PATH": path}
        environment.pop("SCRAPY_SETTINGS_MODULE", None)
        ended = subprocess.run(
            ["/bin/bash", "-euxc", script], cwd=tmp_path, env=environment, timeout=3 * PATIENCE,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        )  # fmt: skip
    assert ended.returncode == 0, ended.stdout[-3000:]
    for name in FOUND[walk.splitlines()[0]]:
        content = (tmp_path / name).read_bytes()
        assert content, name
        if name.endswith((".jsonl", ".csv")):
            assert len(set(re.findall(rb"/story(\d)\.html", content))) == 6, name
