"""Tests of the standard output of all commands."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

import pytest
from scrapy.commands import ScrapyCommand
from scrapy.settings import Settings
from typing_extensions import override

from tests.crawl.run import ROOT
from tests.users import ordinary_user
from topiccrawl.commands.main import main
from topiccrawl.commands.terminal import OperatorCommand


@pytest.mark.parametrize(
    "words", [("scrapy", "topics", "list"), ("topiccrawl", "list"), ("topiccrawl", "--help")]
)
def test_closed_pipe_is_not_reported(words: tuple[str, ...]) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    line = [sys.executable, "-m", *words]
    done = subprocess.run(line, cwd=ROOT, stdout=write_end, stderr=subprocess.PIPE, check=False)
    os.close(write_end)
    assert (done.returncode, done.stderr) == (141, b"")


def test_letters_missing_in_the_encoding_are_replaced() -> None:
    line = [sys.executable, "-m", "scrapy", "topics", "show", "电池 ångström"]
    encoding = {**os.environ, "PYTHONIOENCODING": "gb2312"}
    done = subprocess.run(line, cwd=ROOT, env=encoding, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "电池 ?ngstr?m" in done.stdout.decode("gb2312")


@pytest.mark.parametrize("verb", ["tasks", "work", "fetch"])
def test_help_has_the_name_of_the_program(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main([verb, "-h"])
    assert capsys.readouterr().out.splitlines()[2].startswith(f"  topiccrawl {verb} ")


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("artcles", "(did you mean articles?)"),
        ("startprojekt", "startproject"),
        ("x7", ""),
        ("isolation", ""),
    ],
)
def test_unknown_command_is_refused_with_a_suggestion(
    word: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main([word, "list"])
    error = capsys.readouterr().err
    assert (f"unknown command {word}" in error, hint in error, "scrapy" in error) == (
        True, True, False,
    )  # fmt: skip


def test_usage_with_python_m_scrapy_has_the_name_of_scrapy() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", "fetch", "-h"],
        capture_output=True, text=True, check=True,
        env={**os.environ, "SCRAPY_SETTINGS_MODULE": "topiccrawl.settings"},
    )  # fmt: skip
    assert "  scrapy fetch " in done.stdout


def test_modules_that_are_no_commands_are_not_suggested(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["isolaton"])
    assert "isolation" not in capsys.readouterr().err


def test_usage_of_a_crawl_has_the_name_of_the_program() -> None:
    line = [sys.executable, "-m", "topiccrawl", "crawl", "none.toml", "--nolog"]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 2
    assert b"scrapy crawl" not in done.stderr


def test_unknown_option_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["tasks", "create", "a.test", "--topic", "football", "--seeds", "http://a.test/"])
    assert "invalid arguments '--seeds': see" in capsys.readouterr().err


def test_words_after_a_double_dash_are_no_options(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["articles", "search", "-s", f"TOPICCRAWL_DATA_DIR={tmp_path}", "--", "--seeds"])
    assert "invalid arguments" not in capsys.readouterr().err


class Reading(OperatorCommand, ScrapyCommand):
    """A command that reads files."""

    @override
    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        for file in args:
            Path(file).read_bytes()


def test_data_folder_of_another_user_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "data").mkdir()
    for file in ("data/store.sqlite", "other"):
        (tmp_path / file).touch(0)
    tmp_path.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    command = Reading()
    command.settings = Settings({"TOPICCRAWL_DATA_DIR": "data"})
    with ordinary_user():
        command.run(["other"], argparse.Namespace())
        command.run(["data/store.sqlite"], argparse.Namespace())
    (tmp_path / "data").chmod(0)
    with ordinary_user():
        command.run([], argparse.Namespace())
    remedy = "Permission denied: run the command as the user who runs the crawls"
    assert (command.exitcode, capsys.readouterr().err.splitlines()) == (
        1, ["other: Permission denied", f"data/store.sqlite: {remedy}", f"data/VERSION: {remedy}"],
    )  # fmt: skip


def test_crawl_in_redis_needs_no_data_folder(
    tmp_path: Path, redis_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = ["-s", f"REDIS_URL={redis_url}", "-s", f"TOPICCRAWL_DATA_DIR={tmp_path}"]
    with pytest.raises(SystemExit, match="1"):
        main(["frontier", "stats", "--topic", "足球", *settings])
    assert "has no crawl named 足球-" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="1"):
        main(["frontier", "stats", *settings])
    assert "or a crawl in Redis with --topic TOPIC" in capsys.readouterr().err
