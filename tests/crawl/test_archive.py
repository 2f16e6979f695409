"""Tests of crawls into WARC files and of extraction from them."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.crawl.run import ROOT, run
from tests.crawl.web import Answer, Page, Web, article
from tests.waiting import PATIENCE, until
from tests.warcs import exchanges
from topiccrawl.addons.simulate.collection import RecordedWeb
from topiccrawl.addons.warc.archive import Archive, Exchange

if TYPE_CHECKING:
    from pathlib import Path

HOST = "http://news.test"
HTML = (("Content-Type", "text/html; charset=utf-8"),)
TEXT = "新能源汽车的动力电池本周开始回收，工厂设在本地，"


def articles(data: Path) -> dict[str, tuple[str, str]]:
    """Return title and body of the stored articles without ``noarchive``, by URL."""
    query = "SELECT url, title, body FROM articles WHERE NOT noarchive"
    with closing(sqlite3.connect(data / "store.sqlite")) as connection:
        return {url: (title, body) for url, title, body in connection.execute(query)}


@pytest.mark.crawl
@pytest.mark.slow
def test_fetched_pages_are_archived_except_noarchive_pages(tmp_path: Path) -> None:
    links = [f"{HOST}/1.html", f"{HOST}/old", f"{HOST}/no", f"{HOST}/tag", f"{HOST}/missing"]
    refusing = article(
        "新能源汽车", "新能源汽车的车主昨天在广场上比谁开得最省电，冠军来自邻县，"
    ).replace("<head>", '<head><meta name="robots" content="index, NOARCHIVE">')
    pages: dict[str, Page] = {
        f"{HOST}/missing": Answer("gone for ever", status=404),
        f"{HOST}/": article("新能源汽车", TEXT, *links),
        f"{HOST}/1.html": article("新能源汽车一", TEXT),
        f"{HOST}/old": Answer(status=301, headers=(("Location", f"{HOST}/new"),)),
        f"{HOST}/new": article(
            "新能源汽车二", "一月出口的新能源汽车增长两成，港口连夜装船发往南方各国，"
        ),
        f"{HOST}/no": refusing,
        f"{HOST}/tag": Answer(refusing, headers=(("X-Robots-Tag", "noarchive"),)),
    }
    folder = tmp_path / "warc"
    with Web(pages) as web:
        arguments = ("crawl", "topic", "-a", "topic=新能源汽车", "-a", f"seeds={HOST}/")
        status, text = run(web.proxy, tmp_path / "data", *arguments, WARC_DIR=str(folder))
    assert status == 0, text
    written = sorted(folder.glob("*.warc.gz"))
    command = [sys.executable, "-m", "warcio.cli", "check", *map(str, written)]
    assert subprocess.run(command, timeout=PATIENCE, check=False).returncode == 0
    found = {one.url: one for file in written for one in exchanges(file)}
    assert {url: one.status for url, one in found.items()} == {
        f"{HOST}/robots.txt": 404,
        f"{HOST}/": 200,
        f"{HOST}/1.html": 200,
        f"{HOST}/old": 301,
        f"{HOST}/new": 200,
        f"{HOST}/missing": 404,
    }
    before = articles(tmp_path / "data")
    assert sorted(before) == [f"{HOST}/1.html", f"{HOST}/new"]
    data = ("-s", f"TOPICCRAWL_DATA_DIR={tmp_path / 'again'}")
    command = [sys.executable, "-m", "scrapy", "reextract", *data, "--topic", "新能源汽车"]
    subprocess.run([*command, str(folder)], cwd=ROOT, timeout=PATIENCE, check=True)
    empty = subprocess.run(
        [*command, str(tmp_path)], cwd=ROOT, timeout=PATIENCE, check=False, capture_output=True
    )
    assert empty.returncode == 1
    assert f"{tmp_path}: the folder has no WARC file" in empty.stderr.decode()
    assert articles(tmp_path / "again") == before
    _forget(tmp_path / "data", folder, f"{HOST}/new")
    assert sorted(articles(tmp_path / "data")) == [f"{HOST}/1.html"]
    left = {one.url for file in folder.glob("*.warc.gz") for one in exchanges(file)}
    assert left == found.keys() - {f"{HOST}/new"}
    recorded = [RecordedWeb.read(file).get(f"{HOST}/1.html") for file in written]
    assert [one.body.decode() for one in recorded if one] == [pages[f"{HOST}/1.html"]]


@pytest.mark.crawl
@pytest.mark.slow
def test_interrupted_extraction_continues_with_the_next_file(tmp_path: Path) -> None:
    """The words on all pages of a site count less, also for pages after the interruption."""
    for name, numbers in (("a", range(1000, 1240)), ("b", range(1240, 1740))):
        archive = Archive(tmp_path / name)
        archive.open()
        for number in numbers:
            of_one_site = number < 1240 or number % 5 == 0
            page = article(f"新能源汽车{number}", f"第{number}辆新能源汽车今天出厂，{TEXT}")
            body = page.encode()
            url = f"{HOST if of_one_site else f'http://{number}.news.test'}/{number}.html"
            archive.write(Exchange(url, 1.6e9 + number, "GET", (), 200, HTML, body))
        archive.close()
    paths = [str(path) for name in "ab" for path in (tmp_path / name).glob("*.warc.gz")]
    command = [sys.executable, "-m", "scrapy", "reextract", *paths, "--topic", "新能源汽车"]

    def options(data: Path) -> list[str]:
        return ["-s", f"TOPICCRAWL_DATA_DIR={data}"]

    killed, whole, state = (
        tmp_path / "killed",
        tmp_path / "whole",
        tmp_path / "killed/reextract.json",
    )
    process = subprocess.Popen([*command, *options(killed)], cwd=ROOT)
    until(state.exists)
    process.kill()
    process.wait(PATIENCE)
    notices = []
    for data in (killed, whole):
        done = subprocess.run(
            [*command, *options(data)], cwd=ROOT, timeout=PATIENCE, check=True,
            capture_output=True, text=True,
        )  # fmt: skip
        notices.append(done.stderr.count("finished before the interruption"))
    assert notices == [1, 0]
    assert articles(killed) == articles(whole)
    of_host = [url for url in articles(whole) if url.startswith(HOST)]
    assert len(articles(whole)) - len(of_host) == 400
    assert 0 < len(of_host) < 240
    assert not state.exists()


def _forget(data: Path, folder: Path, url: str) -> None:
    settings = ("-s", f"TOPICCRAWL_DATA_DIR={data}", "-s", f"WARC_DIR={folder}")
    command = [sys.executable, "-m", "scrapy", "articles", "forget", url, *settings]
    done = subprocess.run(
        command, cwd=ROOT, timeout=PATIENCE, check=True, capture_output=True, text=True
    )
    assert "1 article deleted" in done.stdout
    assert "2 records removed from 1 file\n" in done.stdout
