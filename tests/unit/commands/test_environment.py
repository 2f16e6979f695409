"""Tests of commands in unusual environments: streams, folders and signals."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.crawl.run import ROOT

FULL = Path("/dev/full")


def run(folder: Path, words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a shell command in a folder; ``topiccrawl`` is the command of the project."""
    program = f'topiccrawl() {{ exec "{sys.executable}" -m topiccrawl "$@"; }}; {words}'
    given = {**os.environ, "PYTHONPATH": str(ROOT), "LC_ALL": "C.UTF-8", **environment}
    return subprocess.run(
        ["sh", "-c", program],  # noqa: S607
        cwd=folder,
        env=given,
        capture_output=True,
        text=True,
        check=False,
    )


def test_language_of_help_is_a_variable_of_the_environment(tmp_path: Path) -> None:
    done = run(tmp_path, "topiccrawl why -h", TOPICCRAWL_LANGUAGE="zh", LANGUAGE="en")
    assert done.stdout.startswith("用法：topiccrawl why")
    assert "显示" in done.stdout


@pytest.mark.parametrize("given", ["fr", "chinese"])
def test_unknown_language_of_the_settings_is_refused(tmp_path: Path, given: str) -> None:
    command = f"topiccrawl articles list -s TOPICCRAWL_LANGUAGE={given}"
    done = run(tmp_path, command)
    text = f"TOPICCRAWL_LANGUAGE is '{given}': set it to en or zh\n"
    assert (done.returncode, done.stderr) == (1, text)
    assert "：请写 en 或 zh\n" in run(tmp_path, command, LC_ALL="zh_CN.UTF-8").stderr


def test_unknown_language_of_the_environment_is_english(tmp_path: Path) -> None:
    done = run(tmp_path, "topiccrawl articles list", TOPICCRAWL_LANGUAGE="fr", LANG="fr_FR.UTF-8")
    assert "no crawl has been run with this data folder" in done.stderr


def test_deleted_current_folder_is_reported(tmp_path: Path) -> None:
    done = run(tmp_path, "mkdir gone; cd gone; rmdir ../gone; topiccrawl articles list")
    text = "the current folder cannot be used (No such file or directory): change to another one\n"
    assert (done.returncode, done.stderr) == (1, text)


@pytest.mark.parametrize("words", ["-h", "crawl -h"])
def test_help_works_with_an_ascii_terminal(tmp_path: Path, words: str) -> None:
    ascii_only = {"PYTHONIOENCODING": "ascii", "TOPICCRAWL_LANGUAGE": "zh", "LANGUAGE": "zh"}
    done = run(tmp_path, f"topiccrawl {words}", **ascii_only)
    assert (done.returncode, done.stderr) == (0, "")
    assert "topiccrawl crawl" in done.stdout


def test_ctrl_c_during_start_prints_no_stack_trace(tmp_path: Path) -> None:
    (tmp_path / "early.py").write_text(
        "import signal\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # the caller may ignore it\n"
        "signal.raise_signal(signal.SIGINT)\n"
    )
    path = os.pathsep.join((str(ROOT), str(tmp_path)))
    done = run(
        tmp_path, "topiccrawl articles list", SCRAPY_SETTINGS_MODULE="early", PYTHONPATH=path
    )
    assert (done.returncode, done.stderr) == (130, "interrupted\n")


def test_closed_standard_streams_are_replaced_by_dev_null(tmp_path: Path) -> None:
    (tmp_path / "late.py").write_text(
        "import os\nfrom pathlib import Path\n"
        "Path('streams').write_text(' '.join(os.readlink(f'/dev/fd/{n}') for n in range(3)))\n"
    )
    if not os.path.islink("/dev/fd/0"):  # noqa: PTH114 - a link to no file
        pytest.skip("/dev/fd shows no names of files")
    path = os.pathsep.join((str(ROOT), str(tmp_path)))
    done = run(
        tmp_path, "topiccrawl topics list <&- >&- 2>&-", SCRAPY_SETTINGS_MODULE="late",
        PYTHONPATH=path,
    )  # fmt: skip
    assert done.stderr == ""
    assert (tmp_path / "streams").read_text().split() == [os.devnull] * 3


@pytest.mark.skipif(not FULL.exists(), reason="the system has no /dev/full")
def test_full_disk_behind_standard_output_is_an_error(tmp_path: Path) -> None:
    done = run(tmp_path, f"topiccrawl topics list > {FULL}")
    text = "standard output cannot be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (1, text)


@pytest.mark.parametrize("option", ["--logfile", "--pidfile", "--profile"])
def test_file_that_cannot_be_written_is_named_in_one_line(tmp_path: Path, option: str) -> None:
    done = run(tmp_path, f"topiccrawl list {option} missing/file")
    line = done.stderr.splitlines()[-1]
    assert (done.returncode, "Traceback" in done.stderr) == (1, False), done.stderr
    assert line.startswith("topiccrawl: ")
    assert line.endswith("missing/file: No such file or directory")


def test_generated_spider_outside_of_a_project_is_in_the_current_folder(tmp_path: Path) -> None:
    done = run(tmp_path, "topiccrawl genspider mine a.test")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "mine.py").exists()


def test_generated_spider_is_in_the_module_that_own_settings_name(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "__init__.py").write_text('NEWSPIDER_MODULE = "own"\n')
    path = os.pathsep.join((str(ROOT), str(tmp_path)))
    done = run(
        tmp_path, "topiccrawl genspider mine a.test", SCRAPY_SETTINGS_MODULE="own", PYTHONPATH=path
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "own" / "mine.py").exists()


def test_empty_data_folder_is_refused(tmp_path: Path) -> None:
    done = run(tmp_path, "topiccrawl articles list -s TOPICCRAWL_DATA_DIR=")
    assert (done.returncode, done.stderr[:29]) == (1, "TOPICCRAWL_DATA_DIR is empty:")


@pytest.mark.parametrize(
    ("options", "error"), [("", "-a template="), ("--pages 5", "more than one spider")]
)
def test_template_spider_is_no_topic(tmp_path: Path, options: str, error: str) -> None:
    done = run(tmp_path, f"topiccrawl crawl template {options}")
    assert (done.returncode, error in done.stderr) == (2, True), done.stderr


def test_settings_may_be_a_module_without_a_package(tmp_path: Path) -> None:
    (tmp_path / "alone.py").write_text('ADDONS = {"topiccrawl.Addon": 100}\n')
    path = os.pathsep.join((str(ROOT), str(tmp_path)))
    done = run(tmp_path, "topiccrawl topics", SCRAPY_SETTINGS_MODULE="alone", PYTHONPATH=path)
    assert (done.returncode, "football" in done.stdout) == (0, True), done.stderr


@pytest.mark.parametrize("command", ["fetch", "view", "shell", "parse"])
def test_url_that_cannot_be_parsed_is_refused(tmp_path: Path, command: str) -> None:
    done = run(tmp_path, f"topiccrawl {command} 'http://[::1'")
    text = "error: 'http://[::1' is not a URL: write https://host/path\n"
    assert (done.returncode, done.stderr.endswith(text)) == (2, True), done.stderr
