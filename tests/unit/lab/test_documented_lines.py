"""Tests of the documented command lines: their commands, options and settings exist."""

from __future__ import annotations

import argparse
import re
import shlex
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from scrapy.settings import Settings, default_settings
from typing_extensions import override

import topiccrawl.settings
from lab.commands import SCRAPY_COMMANDS, commands
from topiccrawl.commands import init, main

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[3]
FILES = [
    file
    for folder in (ROOT, ROOT / "docs", ROOT / "examples")
    for file in sorted(folder.glob("*.md"))
    if file.name != "CHANGELOG.md"  # contains lines of earlier versions
]
_BLOCK = re.compile(r"```sh\n(.*?)```", re.DOTALL)
_SPAN = re.compile(r"`((?:scrapy|topiccrawl) [a-z][^`\n]*)`")
_OURS = {**dict(commands()), "init": init.InitCommand()}


CHINESE = pytest.mark.parametrize(
    "chinese", sorted(ROOT.rglob("docs/*.zh-CN.md")), ids=lambda file: str(file.name)
)


class RaisingParser(argparse.ArgumentParser):
    """A parser that raises instead of ending the process."""

    @override
    def error(self, message: str) -> None:  # type: ignore[override]
        raise ValueError(message)


def lines(text: str) -> Iterator[str]:
    """Yield the commands of a page: lines of its shell blocks, and spans of code."""
    for block in _BLOCK.findall(text):
        yield from block.replace("\\\n", " ").splitlines()
    for span in _SPAN.findall(_BLOCK.sub("", text)):
        if "…" not in span and "|" not in span and "·" not in span and "[" not in span:
            yield span


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.name))
def test_documented_command_lines_are_valid(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    named = [one for one in lines(text) if one.startswith(("scrapy ", "topiccrawl "))]
    wrong = [f"{line}: {error}" for line in named if (error := error_in(line))]
    assert wrong == []


def error_in(line: str) -> str:
    """Return the reason why a line is invalid; "" if it is valid."""
    program, name, *words = takewhile(lambda word: word != "|", shlex.split(line, comments=True))
    parser, command = RaisingParser(add_help=False), _OURS.get(name)
    if not words:
        return ""
    if program == "topiccrawl" and name == "crawl":
        parser = RaisingParser(parents=[main._parser()], add_help=False)
    elif command is not None:
        command.settings = Settings()
        command.add_options(parser)
    elif name not in SCRAPY_COMMANDS:
        return f"no command {name}"
    try:
        _, rest = parser.parse_known_args(words)
    except ValueError as error:
        return str(error)
    if command is not None and any(word.startswith("--") for word in rest):
        return f"not understood: {rest}"
    named = re.findall(r"-s ([A-Z_]+)=", line)
    return ", ".join(one for one in named if not is_setting(one))


def is_setting(name: str) -> bool:
    return hasattr(topiccrawl.settings, name) or hasattr(default_settings, name)


@CHINESE
def test_chinese_page_has_only_lines_of_its_english_page(chinese: Path) -> None:
    english = chinese.with_name(chinese.name.replace(".zh-CN", ""))
    known, own = (
        {shlex.join(shlex.split(line, comments=True)) for line in lines(one.read_text("utf-8"))}
        for one in (english, chinese)
    )
    assert own - known == set()


@CHINESE
def test_chinese_page_has_the_sections_settings_tables_and_blocks_of_its_english_page(
    chinese: Path,
) -> None:
    english = chinese.with_name(chinese.name.replace(".zh-CN", ""))
    assert outline(chinese.read_text("utf-8")) == outline(english.read_text("utf-8"))


def outline(text: str) -> tuple[list[str], set[str], int, list[str]]:
    """Return the levels of headings, the names of settings, table rows and languages of blocks."""
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    levels = re.findall(r"^(#+) ", prose, re.MULTILINE)
    settings = set(re.findall(r"(?<![A-Z_])(?:TOPICCRAWL|REDIS|MONGODB|WARC)_[A-Z_]+[A-Z]", text))
    rows = len(re.findall(r"^\|", prose, re.MULTILINE))
    return levels, settings, rows, re.findall(r"^```(\w*)$", text, re.MULTILINE)


@CHINESE
def test_chinese_page_and_its_english_page_link_to_each_other(chinese: Path) -> None:
    english = chinese.with_name(chinese.name.replace(".zh-CN", ""))
    assert f"[English]({english.name})" in chinese.read_text("utf-8")
    assert f"[中文]({chinese.name})" in english.read_text("utf-8")


@pytest.mark.parametrize(
    "chinese",
    [ROOT / "README.zh-CN.md", *sorted((ROOT / "docs").glob("*.zh-CN.md"))],
    ids=lambda file: str(file.name),
)
def test_chinese_page_links_to_chinese_pages(chinese: Path) -> None:
    links = re.findall(r"(?<!\[English)\]\(([\w./-]+)\.md", chinese.read_text("utf-8"))
    assert [link for link in links if (chinese.parent / f"{link}.zh-CN.md").exists()] == []


@CHINESE
def test_bold_text_does_not_end_between_a_punctuation_mark_and_a_letter(chinese: Path) -> None:
    """CommonMark, as on GitHub, shows the asterisks of ``**注意：**文字``."""
    code = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
    text = code.sub("x", chinese.read_text("utf-8"))
    ends = re.findall(r"\*\*([^*\n]+)\*\*(\w?)", text)
    assert [bold for bold, letter in ends if letter and re.search(r"\W$", bold)] == []
