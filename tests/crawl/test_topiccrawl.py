"""Tests of the ``topiccrawl`` command: a new project, a crawl, a table."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import openpyxl
import pytest

from tests.crawl.web import Page, Web, article
from tests.waiting import PATIENCE
from topiccrawl.commands.main import VERBS, main

if TYPE_CHECKING:
    from collections.abc import Iterator

SITE = "http://news.test"
TEXT = "新能源汽车的动力电池今天有了新进展，充电桩建设加快，电动汽车销量继续增长。"
PAGES: dict[str, Page] = {
    f"{SITE}/": article("新能源汽车频道", TEXT, f"{SITE}/1.html", f"{SITE}/2.html"),
    f"{SITE}/1.html": article("新能源汽车销量创新高", TEXT + "一。"),
    f"{SITE}/2.html": article("新能源汽车充电桩", TEXT + "二。", f"{SITE}/"),
}
QUICK = ("-s", "DOWNLOAD_DELAY=0", "-s", "AUTOTHROTTLE_ENABLED=0")


@pytest.fixture(scope="module")
def web() -> Iterator[Web]:
    with Web(PAGES) as served:
        yield served


def topiccrawl(folder: Path, *words: str, web: Web | None = None) -> tuple[int, str]:
    """Run the installed command in a folder; return its exit status and output."""
    environment = {name: value for name, value in os.environ.items() if name[:6] != "SCRAPY"}
    if web is not None:
        environment |= {"http_proxy": web.proxy, "no_proxy": ""}
    done = subprocess.run(
        [Path(sys.executable).with_name("topiccrawl"), *words], cwd=folder, timeout=PATIENCE,
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout


def titles(file: Path) -> set[object]:
    sheet = openpyxl.load_workbook(file).active
    assert sheet is not None
    return {row[0] for row in list(sheet.values)[1:]}


@pytest.mark.crawl
def test_a_crawl_from_any_folder_ends_with_a_table(tmp_path: Path, web: Web) -> None:
    file = tmp_path / "articles.xlsx"
    words = ("crawl", "新能源汽车", "--seeds", f"{SITE}/", "--pages", "9", "-o", str(file))
    status, out = topiccrawl(tmp_path, *words, *QUICK, web=web)
    assert status == 0, out
    assert {"新能源汽车销量创新高", "新能源汽车充电桩"} <= titles(file)
    assert f"{file}: {len(titles(file))} articles" in out
    assert "topiccrawl articles list" in out
    assert (tmp_path / "data/store.sqlite").exists()
    status, out = topiccrawl(tmp_path, "articles", "list")
    assert status == 0, out
    assert "充电桩" in out


@pytest.mark.crawl
@pytest.mark.slow
def test_created_project_crawls_and_lists_its_spiders(tmp_path: Path, web: Web) -> None:
    status, out = topiccrawl(tmp_path, "init", "my-news", "--topic", "动力电池 充电桩")
    assert status == 0, out
    project = tmp_path / "my-news"
    made = {str(path.relative_to(project)) for path in project.rglob("*") if path.is_file()}
    package = {f"my_news/{name}" for name in ("__init__.py", "settings.py", "spiders/__init__.py")}
    topic = next(name for name in made if name.startswith("topics/"))
    assert made == {"scrapy.cfg", "setup.py", "compose.yaml", topic, *package}
    assert topiccrawl(project, "list")[1].split() == ["template", "topic", "work"]
    config = (project / "scrapy.cfg").read_text()
    assert "\nurl = http://127.0.0.1:6800\n" in config, "scrapyd-client refuses a trailing slash"
    file = project / "found.csv"
    words = ("crawl", topic, "--seeds", f"{SITE}/", "-o", str(file))
    status, out = topiccrawl(project, *words, *QUICK, web=web)
    assert status == 0, out
    assert "充电桩" in file.read_text("utf-8-sig")
    assert topiccrawl(project, "doctor")[0] == 0
    status, out = topiccrawl(tmp_path, "init", "my-news")
    assert (status, out) == (1, "my-news is not empty: choose a new folder\n")


def test_invalid_output_is_refused_before_the_crawl(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["crawl", "足球", "-o", "all.doc"])
    assert "-o all.doc: the suffix must be one of .jsonl" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("crawl", "topiccrawl crawl：错误：缺少参数：TOPIC"),
        ("crawl -h", "显示本帮助并结束"),
        ("articles --limit", "topiccrawl：错误：--limit：后面要写一个值"),
        ("articles -h", "指定设置的值（可多次给出）"),
    ],
)
def test_argparse_and_help_of_scrapy_options_are_translated(
    words: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANGUAGE", "zh_CN")
    out = topiccrawl(tmp_path, *words.split())[1]
    assert says in out
    assert "用法：topiccrawl" in out
    assert not re.search("usage|error|options:|show this|log file", out)


def test_output_in_a_missing_folder_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["crawl", "足球", "-o", str(tmp_path / "missing" / "all.csv")])
    assert "the folder does not exist or cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "passed"),
    [
        ("-L DEBUG 足球", "topic -a topic=足球 --loglevel=DEBUG"),
        ("--logfile a.log 足球 -v", "topic -a topic=足球 --verbose --logfile=a.log"),
        ("足球 --pages 3 -a exclude=/a", "topic -a topic=足球 -a exclude=/a -s TOPICCRAWL_PAGES=3"),
        ("足球 -s A=1 -O b.csv", "topic -a topic=足球 -s A=1 --overwrite-output=b.csv"),
        (
            "足球 -O a.json -O b.csv",
            "topic -a topic=足球 --overwrite-output=a.json --overwrite-output=b.csv",
        ),
        ("spider -a topic=足球", "spider -a topic=足球"),
        ("template -a template=x --fresh", "template -a template=x --fresh"),
    ],
)
def test_scrapys_options_may_be_anywhere(
    monkeypatch: pytest.MonkeyPatch, words: str, passed: str
) -> None:
    calls: list[list[str]] = []
    monkeypatch.setattr("scrapy.cmdline.execute", lambda argv, _settings: calls.append(argv))
    with pytest.raises(AssertionError, match="Scrapy ends the process"):
        main(["crawl", *words.split()])
    assert calls == [["topiccrawl", "crawl", *passed.split()]]


def test_an_unknown_option_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["crawl", "足球", "--page", "3"])
    assert "unrecognized arguments: --page 3" in capsys.readouterr().err


def test_a_crawl_that_cannot_start_names_the_cause(tmp_path: Path) -> None:
    status, out = topiccrawl(tmp_path, "crawl", "足球", "-s", "DOWNLOADER=no.such")
    assert status == 1, out
    assert "No module named 'no'" in out
    assert "Crawler.engine is not set" not in out


def test_a_topic_in_place_of_a_spider_has_a_hint(tmp_path: Path) -> None:
    status, out = topiccrawl(tmp_path, "crawl", "足球", "-a", "exclude=/video/*")
    assert status == 2, out
    assert "`crawl topic -a topic=足球` crawls for a topic" in out


def test_help_names_the_verbs_and_imports_no_command() -> None:
    code = "import sys; from topiccrawl.commands.main import main\ntry: main([])\n"
    code += "except SystemExit: sys.stderr.write(' '.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    assert all(verb in done.stdout for verb in VERBS)
    assert "scrapy.cmdline" not in done.stderr.split()
