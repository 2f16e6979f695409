"""Tests of the front pages and of the documentation site."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FRONT_PAGES = ("README.md", "README.zh-CN.md")
_LINK = re.compile(r"\]\((?!https?:)([^)#]+)")


def test_front_pages_are_short_and_have_the_same_sections() -> None:
    english, chinese = ((ROOT / name).read_text(encoding="utf-8") for name in FRONT_PAGES)
    assert max(len(text.splitlines()) for text in (english, chinese)) <= 90
    assert english.count("\n## ") == chinese.count("\n## ")
    assert english.count("\n- **") == chinese.count("\n- **")
    blocks = [re.findall(r"```python\n.*?```", text, re.DOTALL) for text in (english, chinese)]
    assert blocks[0] == blocks[1]


@pytest.mark.parametrize("name", [*FRONT_PAGES, "examples/README.md", "CONTRIBUTING.md"])
def test_links_of_pages_outside_the_site_exist(name: str) -> None:
    page = ROOT / name
    links = _LINK.findall(page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.slow
def test_site_builds_without_broken_links(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--site-dir", str(tmp_path)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False)
    assert built.returncode == 0, built.stderr.decode()
    assert "新能源汽车" in (tmp_path / "zh-CN" / "tutorial" / "index.html").read_text(
        encoding="utf-8"
    )
    assert (tmp_path / "ARCHITECTURE" / "index.html").exists()
