"""Tests of ``scrapy articles``: show, list, forget and events."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from scrapy import cmdline

from topiccrawl.model import Article
from topiccrawl.storage.contract import Fate
from topiccrawl.storage.sqlite import SqliteStore
from topiccrawl.text.digest import digest_of

if TYPE_CHECKING:
    from pathlib import Path

BODY = "\n".join(
    f"第{number}段：{text}"
    for number, text in enumerate(
        (
            "市里昨天公布了旧桥大修的方案，工期十四个月，期间行人绕行下游的浮桥。",
            "方案保留桥面上的车辙，替换风化的石料，新石料取自同一座山。",
            "住在桥头的人说，大家最关心的是早市搬到哪里去，还有校车怎么走。",
        )
    )
)


def article(site: str, published: str, body: str = BODY) -> Article:
    url = f"http://{site}/1.html"
    return Article(url, f"{site}的标题", body, site=site, published=published, topics={"桥": 0.5},
                   digest=digest_of(body), fetched_at=1.6e9)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Store with a story and three reprints, saved in another order than their dates."""
    story = article("first.test", "2020-03-01T08:00:00+08:00")
    copies = [
        article("late.test", "2020-03-03", f"来源：晨报\n{BODY}"),
        article("undated.test", ""),
        article("soon.test", "2020-03-01T09:30:00+08:00", BODY.split("\n", 1)[1]),
    ]

    async def fill() -> None:
        store = SqliteStore(tmp_path)
        await store.open()
        await store.save([story, *copies])
        await store.save([replace(copies[0], title="改过的标题")])
        await store.close()

    asyncio.run(fill())
    return tmp_path


def test_forgotten_site_with_a_chinese_name_is_not_stored_again(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def save() -> list[Fate]:
        store = SqliteStore(tmp_path)
        await store.open()
        saved = await store.save([article("xn--efvy88h.test", "2020-03-01")])
        await store.close()
        return [item.fate for item in saved]

    def output(*arguments: str) -> str:
        where = ("-s", f"TOPICCRAWL_DATA_DIR={tmp_path}")
        monkeypatch.setattr(sys, "argv", ["scrapy", "articles", *arguments, *where])
        with pytest.raises(SystemExit):
            cmdline.execute()
        return capsys.readouterr().out

    asyncio.run(save())
    assert "的标题" in output("list", "--all", "--site", "新闻.test")
    assert "的标题" in output("show", "http://新闻.test/1.html")
    assert output("forget", "site:新闻.test").startswith("1 article deleted")
    assert asyncio.run(save()) == [Fate.FORGOTTEN]


def show(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
    *arguments: str,
) -> str:
    where = ("-s", f"TOPICCRAWL_DATA_DIR={folder}")
    monkeypatch.setattr(sys, "argv", ["scrapy", "articles", "show", *arguments, *where])
    with pytest.raises(SystemExit):
        cmdline.execute()
    return capsys.readouterr().out


@pytest.mark.parametrize("site", ["first.test", "soon.test"])
def test_reprints_are_shown_in_order_of_publication(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, folder: Path, site: str
) -> None:
    out = show(capsys, monkeypatch, folder, f"http://{site}/1.html")
    lines = [line for line in out.splitlines() if line.startswith("reprint")]
    assert out.startswith("first.test的标题\nhttp://first.test/1.html\n2020-03-01T08:00:00+08:00")
    assert [line.split("  ")[:3] for line in lines] == [
        ["reprint 2020-03-01 09:30", "soon.test", "soon.test的标题"],
        ["reprint 2020-03-03", "late.test", "改过的标题"],
        ["reprint no date", "undated.test", "undated.test的标题"],
    ]
    assert lines[2].endswith("http://undated.test/1.html (100%, same-text)")


def test_reprints_are_shown_as_json(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    shown = json.loads(show(capsys, monkeypatch, folder, "http://late.test/1.html", "--json"))
    assert shown["url"] == "http://first.test/1.html"
    assert [reprint["site"] for reprint in shown["reprints"]] == [
        "soon.test", "late.test", "undated.test"
    ]  # fmt: skip
    assert {"url", "title", "published", "seen_at", "similarity", "reason"} <= set(
        shown["reprints"][0]
    )


@pytest.mark.parametrize("hidden", [False, True])
def test_earlier_version_of_a_page_with_noarchive_has_no_body(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    *,
    hidden: bool,
) -> None:
    before = replace(article("a.test", "2020-03-01"), noarchive=hidden)

    async def fill() -> None:
        store = SqliteStore(tmp_path)
        await store.open()
        after = replace(before, body="改过的正文", digest=digest_of("改过的正文"), fetched_at=1.7e9)
        for one in (before, after):
            await store.save([one])
        await store.close()

    asyncio.run(fill())
    shown = json.loads(show(capsys, monkeypatch, tmp_path, before.url, "--json"))
    assert [version["body"] for version in shown["versions"]] == ["" if hidden else before.body]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("list --all --site :::", "--site ':::' is not a host: write it as news.example.com"),
        ("list --all --site *.test", "--site '*.test' is not a host: write it as news.example.com"),
        ("list --all --site nowhere.test", "no matching article of any topic"),
        ("list --all --since 2026-02-01 --until 2026-01-01", "is later than --until 2026-01-01"),
        ("changes --topic 足球 --since 99999999999d", "since '99999999999d': write last, 12h, 7d"),
        ("changes --topic 足球 --since 999999999d --site a/b", "--site 'a/b' is not a host"),
    ],
)
def test_invalid_argument_is_reported_in_one_line(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
    arguments: str,
    line: str,
) -> None:
    where = ("-s", f"TOPICCRAWL_DATA_DIR={folder}")
    monkeypatch.setattr(sys, "argv", ["scrapy", "articles", *arguments.split(), *where])
    with pytest.raises(SystemExit):
        cmdline.execute()
    out, err = capsys.readouterr()
    assert out == ""
    assert line in err
    assert err.count("\n") == 1


def test_events_are_listed_with_their_articles(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first, other = article("a.test", "2020-03-01"), article("c.test", "2020-03-02", BODY[::-1])
    second = article("b.test", "2020-03-03", "".join(sorted(BODY)))
    event = first.url

    async def fill() -> None:
        store = SqliteStore(tmp_path)
        await store.open()
        await store.save([replace(first, event=event), other, replace(second, event=event)])
        await store.close()

    asyncio.run(fill())
    where = ["-s", f"TOPICCRAWL_DATA_DIR={tmp_path}"]
    for options in ([], ["--json"]):
        monkeypatch.setattr(
            sys, "argv", ["scrapy", "articles", "events", "--all", *options, *where]
        )
        with pytest.raises(SystemExit):
            cmdline.execute()
    shown, *lines = capsys.readouterr().out.splitlines()
    assert shown.startswith("2 articles of 2 sites  2020-03-01 to 2020-03-03  a.test")
    assert [line.split()[-1] for line in lines[:2]] == [first.url, second.url]
    assert json.loads(lines[2])["articles"] == [first.url, second.url]
