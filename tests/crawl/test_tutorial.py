"""The commands and code of the tutorial work, in both languages."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.crawl.run import ROOT
from tests.crawl.web import Page, Web, article

pytestmark = [pytest.mark.crawl, pytest.mark.slow]

SITE = "http://news.example.com"
_BLOCK = re.compile(r"(?:`([\w/]+\.py)`[:：]\n\n)?```(sh|python)\n(.*?)```", re.DOTALL)
TEXT = "新能源汽车在冬天的充电需要更长时间，动力电池的温度影响续航，车企为电动汽车增加了预热功能。"


def pages() -> dict[str, Page]:
    web: dict[str, Page] = {
        f"{SITE}/": '<a name="top"></a><a href="mailto:editor@news.example.com">Editor</a>'
        + "".join(
            f'<p><a href="/story{n}.html">新能源汽车冬天充电见闻{n}</a></p>' for n in range(6)
        )
    }
    for n in range(6):
        web[f"{SITE}/story{n}.html"] = article(f"新能源汽车冬天充电见闻{n}", f"第{n}站。{TEXT * 4}")
    return web


@pytest.mark.parametrize("name", ["tutorial.md", "tutorial.zh-CN.md"])
def test_commands_and_code_of_the_tutorial_work(name: str, tmp_path: Path) -> None:
    blocks = _BLOCK.findall((ROOT / "docs" / name).read_text(encoding="utf-8"))
    assert len(blocks) == 7
    folder = tmp_path
    with Web(pages()) as web:
        proxies = {"http_proxy": web.proxy, "https_proxy": web.proxy, "no_proxy": ""}
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, **proxies, "PATH": path}
        environment.pop("SCRAPY_SETTINGS_MODULE", None)
        for file, kind, text in blocks:
            if kind == "python":
                (folder / file).write_text(text, encoding="utf-8")
                continue
            for line in text.strip().splitlines():
                if line.startswith("cd "):
                    folder /= line.removeprefix("cd ")
                    continue
                ended = subprocess.run(
                    shlex.split(line), cwd=folder, env=environment, capture_output=True, check=False
                )
                assert ended.returncode == 0, (line, ended.stderr.decode()[-3000:])
    assert (tmp_path / "articles.csv").read_text(encoding="utf-8").count("story") >= 6
    found = (folder / "headlines.jsonl").read_text(encoding="utf-8").splitlines()
    assert {json.loads(line)["url"] for line in found} == {
        f"{SITE}/story{n}.html" for n in range(6)
    }
    assert (folder / "cars.jsonl").stat().st_size > 0
