"""Test of the commands that ``topiccrawl init`` prints."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

from topiccrawl.commands.main import main

if TYPE_CHECKING:
    from pathlib import Path


def test_folder_and_topic_are_quoted_for_the_shell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, topic = str(tmp_path / "my news"), '"battery recycling" | (电池 回收)'
    with pytest.raises(SystemExit, match="0"):
        main(["init", folder, "--topic", topic])
    commands = capsys.readouterr().out.splitlines()[1:3]
    assert shlex.split(commands[0]) == ["cd", folder]
    assert shlex.split(commands[1])[:3] == ["topiccrawl", "crawl", topic]


def test_folder_that_begins_with_a_dash_is_no_option_of_cd(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match="0"):
        main(["init", "-news"])
    assert capsys.readouterr().out.splitlines()[1] == "  cd ./-news"


@pytest.mark.parametrize("name", ["data", "topics"])
def test_the_package_is_no_other_folder_of_the_project(tmp_path: Path, name: str) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["init", str(tmp_path / name)])
    assert (tmp_path / name / "newsroom" / "settings.py").is_file()
