"""Tests of a crawl at a terminal, which shows its progress and end and names the log file."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import threading
from typing import TYPE_CHECKING

import pytest

from tests.crawl.run import ROOT, command
from tests.crawl.web import Answer, Web, article
from tests.waiting import PATIENCE

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.crawl

PAGES = {"http://a.test/0": article("家常菜谱", "红烧肉要先焯水，再加冰糖和酱油。")}
ARGUMENTS = ("crawl", "topic", "-a", "topic=足球", "-a", "seeds=http://a.test/0")


def at_a_terminal(proxy: str, data: Path, *more: str, status: int = 0, **environment: str) -> str:
    """Run the crawl with standard error at a terminal; return what that shows."""
    ours, theirs = pty.openpty()
    given = {**os.environ, "http_proxy": proxy, "no_proxy": "", **environment}
    words = command(data, *ARGUMENTS, *more)
    level = words.index("LOG_LEVEL=INFO")
    del words[level - 1 : level + 1]  # the default is tested
    with subprocess.Popen(words, cwd=ROOT, env=given, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 65536):
                shown += part
        except OSError:  # Linux: the other side was closed
            pass
    os.close(ours)
    assert process.returncode == status
    return shown.decode()


def test_a_terminal_shows_the_end_and_names_the_log(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with Web(PAGES) as web:
        shown = at_a_terminal(web.proxy, data, LANG="en_US.UTF-8", LC_ALL="")
    log = data / "logs" / "topic-足球.log"
    assert shown.startswith(f"log: {log}")
    assert "[scrapy" not in shown
    assert "topic 足球: no URLs left to fetch" in shown
    assert f"log        {log} (0 warnings, 0 errors)" in shown
    assert "Spider closed (finished)" in log.read_text()


def test_terminal_reports_the_first_and_the_second_ctrl_c(tmp_path: Path) -> None:
    asked, answer = threading.Event(), threading.Event()

    def slow(_: object) -> Answer:
        asked.set()
        answer.wait(PATIENCE)
        return Answer("")

    ours, theirs = pty.openpty()
    with Web({"http://a.test/robots.txt": Answer("", 404), "http://a.test/0": slow}) as web:
        given = {**os.environ, "http_proxy": web.proxy, "no_proxy": "", "LC_ALL": "C.UTF-8"}
        words = command(tmp_path, *ARGUMENTS)
        with subprocess.Popen(words, cwd=ROOT, env=given, stderr=theirs) as process:
            os.close(theirs)
            assert asked.wait(PATIENCE)
            process.send_signal(signal.SIGINT)
            shown = b""
            while b"stopping after open requests" not in shown:
                shown += os.read(ours, 65536)
            process.send_signal(signal.SIGINT)
            while b"stopped at once; the same command continues the crawl" not in shown:
                shown += os.read(ours, 65536)
            answer.set()
    os.close(ours)
    assert process.returncode == 0


@pytest.mark.parametrize(("sent", "reason"), [(0, "finished"), (signal.SIGHUP, "shutdown")])
def test_crawl_survives_a_closed_terminal(tmp_path: Path, sent: int, reason: str) -> None:
    asked, answer = threading.Event(), threading.Event()

    def slow(_: object) -> Answer:
        asked.set()
        answer.wait(PATIENCE)
        return Answer(PAGES["http://a.test/0"])

    ours, theirs = pty.openpty()
    with Web({"http://a.test/robots.txt": Answer("", 404), "http://a.test/0": slow}) as web:
        given = {**os.environ, "http_proxy": web.proxy, "no_proxy": ""}
        words = command(tmp_path, *ARGUMENTS)
        with subprocess.Popen(words, cwd=ROOT, env=given, stderr=theirs) as process:
            os.close(theirs)
            assert asked.wait(PATIENCE)
            os.close(ours)
            process.send_signal(sent)
            answer.set()
    assert process.returncode == 0
    assert f"Spider closed ({reason})" in (tmp_path / "logs" / "topic-足球.log").read_text()


def test_option_v_shows_the_log_and_lang_sets_the_language(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with Web(PAGES) as web:
        shown = at_a_terminal(web.proxy, data, "-v", LANG="zh_CN.UTF-8", LC_ALL="", LANGUAGE="")
    assert "Spider closed (finished)" in shown
    assert not (data / "logs").exists()
    assert "主题 足球：没有可抓取的网址了" in shown
    assert "为什么没有找到切题的内容：" in shown


def test_the_terminal_shows_why_a_crawl_did_not_start(tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / "store.sqlite").mkdir(parents=True)
    shown = at_a_terminal("", data, status=1, LANG="en_US.UTF-8", LC_ALL="")
    assert f"ERROR: {data}/store.sqlite: cannot open" in shown


def test_the_terminal_shows_invalid_settings(tmp_path: Path) -> None:
    more = ("-s", "TOPICCRAWL_PAGEZ=3", "-s", "TOPICCRAWL_PAGES=x")
    shown = at_a_terminal("", tmp_path, *more, status=2, LANG="en_US.UTF-8", LC_ALL="")
    assert "TOPICCRAWL_PAGES is 'x': give a number, 0 or larger" in shown
    assert "log:" not in shown
    with Web(PAGES) as web:
        shown = at_a_terminal(web.proxy, tmp_path, *more[:2], LANG="en_US.UTF-8", LC_ALL="")
    assert "unknown setting TOPICCRAWL_PAGEZ has no effect: did you mean" in shown
