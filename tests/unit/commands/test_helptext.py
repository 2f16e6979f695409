"""Tests of the help of commands."""

from __future__ import annotations

import os
import subprocess
import sys
from argparse import ArgumentParser
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from topiccrawl.commands.helptext import WrappedHelp
from topiccrawl.messages import columns

if TYPE_CHECKING:
    from pathlib import Path

PARTS = st.sampled_from(("网页，", "抓取（新）。", "--since 12h、", "a "))


@given(st.lists(PARTS, min_size=1).map("".join), st.integers(40, 90))
def test_lines_of_chinese_help_fit_into_the_terminal(text: str, width: int) -> None:
    parser = ArgumentParser(
        "x", description=text, formatter_class=lambda prog: WrappedHelp(prog, width=width)
    )
    parser.add_argument("words", help=text)
    shown = parser.format_help()
    assert max(map(columns, shown.splitlines())) <= width
    assert "".join(shown.split()).count("".join(text.split())) >= len(("description", "words"))


def test_scrapys_own_help_is_not_translated(tmp_path: Path) -> None:
    """Scrapy loads the commands of an installed package in each project."""
    settings = "scrapy.settings.default_settings"
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", "genspider", "-h"], cwd=tmp_path,
        capture_output=True, text=True, check=True,
        env={**os.environ, "LANGUAGE": "zh_CN", "SCRAPY_SETTINGS_MODULE": settings},
    )  # fmt: skip
    assert done.stdout.startswith("Usage\n=====\n  scrapy genspider")
    assert "show this help message" in done.stdout
