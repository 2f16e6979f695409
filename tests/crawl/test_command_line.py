"""Tests of the command line: a crawl, the commands that explain it, and invalid input."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from scrapy import cmdline

from tests.crawl.run import ROOT, command, run
from tests.crawl.web import Answer, Page, Web, article
from tests.waiting import PATIENCE
from topiccrawl.storage.database import FILE
from topiccrawl.topics.topic import Topic, default_seeds

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.crawl

SITE = "http://news.test"
TEXT = "新能源汽车的动力电池今天有了新进展，充电桩建设加快，电动汽车销量继续增长。"


@pytest.fixture(scope="module", name="crawled")
def _crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("state") / "data"
    pages = {
        f"{SITE}/": article("新能源汽车频道", TEXT, f"{SITE}/1", f"{SITE}/gone"),
        f"{SITE}/1": article("新能源汽车销量创新高", TEXT + "一。", f"{SITE}/2"),
        f"{SITE}/2": article("新能源汽车下乡", TEXT + "二。"),
    }
    feed = data.parent / "out.jsonl"
    arguments = ("-a", "topic=新能源汽车", "-a", f"seeds={SITE}/", "-O", str(feed))
    with Web(pages) as web:
        status, out = run(web.proxy, data, "crawl", "topic", *arguments)
    assert status == 0, out[-3000:]
    assert "no URLs left to fetch" in out
    return data


def scrapy(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str
) -> tuple[int, str]:
    """Run a scrapy command in this process; return its exit status and output."""
    monkeypatch.setattr(sys, "argv", ["scrapy", *arguments])
    with pytest.raises(SystemExit) as end:
        cmdline.execute()
    captured = capsys.readouterr()
    return int(end.value.code or 0), captured.out + captured.err


def test_feed_contains_readable_articles(crawled: Path) -> None:
    lines = (crawled.parent / "out.jsonl").read_text(encoding="utf-8").splitlines()
    articles = {item["url"]: item for item in map(json.loads, lines)}
    assert articles[f"{SITE}/2"]["title"] == "新能源汽车下乡"
    assert articles[f"{SITE}/2"]["topics"]["新能源汽车"] > 0
    assert "动力电池" in articles[f"{SITE}/2"]["body"]


def test_record_of_an_ended_crawl_has_no_host_that_is_being_fetched(crawled: Path) -> None:
    (record,) = (crawled / "runs").glob("*.json")
    hosts = json.loads(record.read_text())["hosts"]
    assert hosts["states"]["fetching"] == 0
    assert [one["active"] for one in hosts["list"]] == [0]


def test_why_shows_queue_score_parents_and_path(
    crawled: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    where = ("-s", f"TOPICCRAWL_DATA_DIR={crawled}")
    status, out = scrapy(capsys, monkeypatch, "why", f"{SITE}/2", *where)
    assert status == 0
    assert "crawledQueue: fetched (article)" in out
    assert out.index(f"    {SITE}/\n") < out.rindex(f"    {SITE}/1\n")
    status, out = scrapy(capsys, monkeypatch, "why", f"{SITE}/gone", *where)
    assert "errorQueue (http-404)" in out
    assert "in-links   1 crawled page; the best:" in out
    status, out = scrapy(
        capsys, monkeypatch, "why", f"{SITE}/none", "--topic", "新能源汽车", *where
    )
    assert (status, "not recorded" in out, "refused" in out) == (1, True, False)
    _, out = scrapy(capsys, monkeypatch, "why", f"{SITE}/none.zip", *where)
    assert "not recorded" in out
    assert "refused    links to it are not followed: file-type" in out


def test_why_explains_a_refused_link_of_a_crawl_whose_name_gives_no_topic(
    crawled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    data = shutil.copytree(crawled, tmp_path / "data")
    with closing(sqlite3.connect(data / FILE)) as database, database:
        database.execute("UPDATE crawls SET topic = 'like http://a.test/1.json'")
    where = ("-s", f"TOPICCRAWL_DATA_DIR={data}")
    status, out = scrapy(capsys, monkeypatch, "why", f"{SITE}/none.zip", *where)
    assert (status, "not followed: file-type\n" in out) == (1, True), out
    assert "without arguments such as -a sites" in out


def test_articles_are_listed_and_shown(
    crawled: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    where = ("-s", f"TOPICCRAWL_DATA_DIR={crawled}")
    _, out = scrapy(capsys, monkeypatch, "articles", "list", *where)
    assert "新能源汽车下乡" in out
    _, out = scrapy(capsys, monkeypatch, "articles", "list", "--json", "--limit", "1", *where)
    assert json.loads(out)["language"] == "zh"
    _, out = scrapy(capsys, monkeypatch, "articles", "show", f"{SITE}/1", *where)
    assert "新能源汽车销量创新高" in out
    assert "\nterms " in out
    status, out = scrapy(capsys, monkeypatch, "articles", "show", f"{SITE}/9", *where)
    assert (status, "no article in" in out) == (1, True)


def test_invalid_input_ends_with_status_2_before_any_request(tmp_path: Path) -> None:
    with Web({f"{SITE}/": "front"}) as web:
        seeds = f"seeds={SITE}/"
        status, out = run(web.proxy, tmp_path / "data", "crawl", "topic", "-a", seeds)
        assert (status, "-a topic=" in out, "Traceback" in out) == (2, True, False)
        assert web.hits == []
        assert not (tmp_path / "data").exists()


def test_default_portals_are_logged_without_seeds(tmp_path: Path) -> None:
    with Web({}) as web:
        arguments = ("crawl", "topic", "-a", "topic=足球")
        status, out = run(web.proxy, tmp_path / "data", *arguments, RETRY_ENABLED="0")
    assert (status, "no page could be fetched" in out) == (1, True), out[-3000:]
    (line,) = [line for line in out.splitlines() if "No seeds given" in line]
    portals = default_seeds(Topic(name="足球", terms={"足球": 1.0}))
    assert len(portals) > 3
    assert all(portal in line for portal in portals)


def test_terminal_shows_progress_and_why_reads_a_job_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = {f"{SITE}/{n}": Answer(article(f"新能源汽车{n}", TEXT), seconds=0.4) for n in range(4)}
    pages: dict[str, Page] = {f"{SITE}/": article("新能源汽车频道", TEXT, *slow), **slow}
    data, job = tmp_path / "data", ("-s", f"JOBDIR={tmp_path / 'job'}")
    arguments = ("crawl", "topic", "-a", "topic=新能源汽车", "-a", f"seeds={SITE}/", *job)
    with Web(pages) as web:
        status, shown = run_at_terminal(web.proxy, data, *arguments)
    assert status == 0, shown[-3000:]
    lines = re.findall(r"\x1b\[2K(\d+) pages \([\d.]+/s\) · (\d+) on topic \(harvest 100%\)", shown)
    assert lines
    assert "no URLs left to fetch" in shown
    status, out = scrapy(
        capsys, monkeypatch, "why", f"{SITE}/2", "-s", f"TOPICCRAWL_DATA_DIR={data}"
    )
    assert (status, "crawledQueue" in out) == (0, True), out


def run_at_terminal(proxy: str, data: Path, *arguments: str) -> tuple[int, str]:
    """Run a command with standard error at a terminal; return its exit status and output."""
    ours, theirs = pty.openpty()
    slow = {"CONCURRENT_REQUESTS_PER_DOMAIN": "1"}
    environment = {**os.environ, "http_proxy": proxy, "no_proxy": "", "COLUMNS": "150"}
    line = command(data, *arguments, **slow)
    with subprocess.Popen(line, cwd=ROOT, env=environment, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        while part := read_terminal(ours):
            shown += part
        status = process.wait(PATIENCE)
    os.close(ours)
    return status, shown.decode(errors="replace")


def read_terminal(ours: int) -> bytes:
    try:
        return os.read(ours, 65_536)
    except OSError:  # Linux: the other side is closed
        return b""


def test_commands_without_a_crawl_report_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    where = ("-s", f"TOPICCRAWL_DATA_DIR={tmp_path}")
    status, out = scrapy(capsys, monkeypatch, "why", f"{SITE}/", *where)
    assert status == 1
    assert "no crawl has been run" in out
    status, out = scrapy(capsys, monkeypatch, "articles", "list", *where)
    assert status == 1
    assert not (tmp_path / "store.sqlite").exists()


def test_topics_are_listed_and_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    status, out = scrapy(capsys, monkeypatch, "topics", "list")
    assert (status, "football" in out) == (0, True)
    path = tmp_path / "bare.toml"
    path.write_text("[terms]\n足球 = 1\n", encoding="utf-8")
    status, out = scrapy(capsys, monkeypatch, "topics", "show", str(path))
    assert (status, "quotes" in out) == (1, True)
    status, out = scrapy(capsys, monkeypatch, "topics", "show", "football")
    assert (status, "中超" in out) == (0, True)


@pytest.mark.usefixtures("no_coverage")
@pytest.mark.slow
def test_state_of_another_strategy_is_refused_with_the_remedy(tmp_path: Path) -> None:
    data = tmp_path / "data"
    arguments = ("crawl", "topic", "-a", "topic=新能源汽车", "-a", f"seeds={SITE}/")
    with Web({f"{SITE}/": Answer(article("新能源汽车", TEXT))}) as web:
        assert run(web.proxy, data, *arguments)[0] == 0
        status, out = run(web.proxy, data, *arguments, TOPICCRAWL_STRATEGY="bfs")
        assert status == 1
        assert "fresh=1" in out
        assert web.count(f"{SITE}/") == 1
        again = (*arguments, "-a", "fresh=1")
        assert run(web.proxy, data, *again, TOPICCRAWL_STRATEGY="bfs")[0] == 0
