"""Tests of the command `patterns`."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest
from scrapy import cmdline

from tests.crawl.web import Page, Web

if TYPE_CHECKING:
    from pathlib import Path

SITE = "http://www.a.test"
REGEX = r"https?://www\.a\.test/mine/.*"


def scrapy(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str
) -> tuple[int, str]:
    """Run a scrapy command in this process; return its exit status and its output."""
    monkeypatch.setattr(sys, "argv", ["scrapy", *arguments])
    with pytest.raises(SystemExit) as end:
        cmdline.execute()
    captured = capsys.readouterr()
    return int(end.value.code or 0), captured.out + captured.err


def test_patterns_are_learnt_edited_exported_and_imported(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def run(*arguments: str, folder: str = "one") -> tuple[int, str]:
        options = ("-s", f"TOPICCRAWL_DATA_DIR={tmp_path / folder}")
        return scrapy(capsys, monkeypatch, "patterns", *arguments, *options)

    urls = tmp_path / "urls.txt"
    urls.write_text("".join(f"{SITE}/20130304/n{n}.shtml\n" for n in range(30)), "utf-8")
    store = tmp_path / "one" / "store.sqlite"
    assert run("show") == (0, f"{store}: no URL pattern of any site\n")
    for action in "show", "export":
        status, out = run(action, "b.test")
        assert (status, "nothing is stored about the site b.test" in out) == (1, True)
    status, out = run("learn", str(urls), "--as", "news")
    assert (status, "filters" in out) == (0, True)
    status, out = run("edit", "www.a.test", "other", REGEX)
    assert status == 0
    assert out.index(REGEX) < out.index(r"n\d+\.shtml")
    status, out = run("export", "a.test")
    lines = [json.loads(line) for line in out.splitlines()]
    assert [line["label"] for line in lines] == ["other", "news"]
    (tmp_path / "kept.jsonl").write_text(out, "utf-8")
    status, out = run("import", str(tmp_path / "kept.jsonl"), folder="two")
    assert (status, out.split(maxsplit=1)[0]) == (0, "a.test")
    status, out = run("show", "a.test", folder="two")
    assert out.count("by hand") == 2
    run("edit", "a.test", "none", REGEX)
    assert REGEX not in run("show", "a.test")[1]


def test_byte_order_mark_of_a_file_is_ignored(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def run(verb: str, name: str, text: str) -> tuple[int, str]:
        (tmp_path / name).write_text(text, "utf-8-sig")
        options = ("-s", f"TOPICCRAWL_DATA_DIR={tmp_path / 'data'}")
        return scrapy(capsys, monkeypatch, "patterns", verb, str(tmp_path / name), *options)

    assert "learns        0 pages" in run("learn", "urls.txt", f"{SITE}/a.shtml\n")[1]
    line = json.dumps({"site": "a.test", "label": "other", "expression": REGEX})
    assert run("import", "patterns.jsonl", line)[0] == 0


MAPS: dict[str, Page] = {
    "http://www.a.test/robots.txt": "User-agent: *\nSitemap: http://www.a.test/index.xml",
    "http://www.a.test/index.xml": (
        "<sitemapindex xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>"
        "<sitemap><loc>http://www.a.test/gone.xml</loc></sitemap>"
        "<sitemap><loc>http://www.a.test/news.xml</loc></sitemap></sitemapindex>"
    ),
    "http://www.a.test/news.xml": "<urlset xmlns:n='http://www.google.com/schemas/sitemap-news/0.9'>"
    + "".join(
        f"<url><loc>{SITE}/20130304/n{n}.shtml</loc><n:news><n:title>t</n:title></n:news></url>"
        f"<url><loc>{SITE}/photo/{n}.html</loc></url>"
        for n in range(30)
    )
    + "</urlset>",
}


def test_patterns_are_learnt_from_sitemaps_and_lists_of_urls(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    options = ("-s", f"TOPICCRAWL_DATA_DIR={tmp_path}", "-s", "DOWNLOAD_DELAY=0")
    (tmp_path / "list.txt").write_text(f"{SITE}/photo/99.html\nno address\n", "utf-8")
    with Web(MAPS) as web:
        monkeypatch.setenv("http_proxy", web.proxy)
        monkeypatch.setenv("no_proxy", "")
        for source in (("--sitemap", f"{SITE}/robots.txt"), ("--urls", f"{tmp_path}/list.txt")):
            status, out = scrapy(capsys, monkeypatch, "patterns", "learn", *source, *options)
            assert status == 0, out
        gone = scrapy(
            capsys, monkeypatch, "patterns", "learn", "--sitemap", f"{SITE}/gone.xml", *options
        )
        assert (gone[0], "cannot be fetched" in gone[1]) == (1, True)
    status, out = scrapy(capsys, monkeypatch, "patterns", "export", "a.test", *options)
    lines = {line["label"]: line for line in map(json.loads, out.splitlines())}
    assert (lines["news"]["articles"], lines["news"]["seen"]) == (30, 30)
    assert (lines["open"]["articles"], lines["open"]["seen"]) == (0, 31)


def test_links_of_a_hub_page_are_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rows = "".join(
        f"<li>03-0{n} <a href='/2020030{n}/n{n}0000.html'>第{n}条消息的标题</a>"
        for n in range(1, 5)
    )
    page = tmp_path / "hub.html"
    page.write_text(f"<ul>{rows}</ul><a href='2.html'>下一页</a>", "gb18030")
    options = ("-s", f"TOPICCRAWL_DATA_DIR={tmp_path}")
    for arguments, line in (
        (
            (f"{SITE}/list/", str(page)),
            f"2020-03-02        第2条消息的标题  {SITE}/20200302/n20000.html",
        ),
        ((f"{SITE}/list/", str(page)), f"next page: {SITE}/list/2.html"),
        ((f"{SITE}/list/", str(tmp_path / "none")), "cannot be read"),
    ):
        out = scrapy(capsys, monkeypatch, "patterns", "hub", *arguments, *options)[1]
        assert line in out


def test_invalid_input_is_reported(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    options = ("-s", f"TOPICCRAWL_DATA_DIR={tmp_path}")
    status, out = scrapy(capsys, monkeypatch, "patterns", "edit", "a.test", "nice", "a", *options)
    assert (status, "one of news, hub, other, open" in out) == (1, True)
    status, out = scrapy(capsys, monkeypatch, "patterns", "learn", str(tmp_path / "none"), *options)
    assert (status, "cannot be read" in out) == (1, True)
