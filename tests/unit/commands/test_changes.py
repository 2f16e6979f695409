"""Tests of ``scrapy articles changes`` and of ``scrapy why`` for watched pages."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from scrapy import cmdline

from tests.unit.commands.test_articles import article
from topiccrawl.addons.records.periods.periods import Period, Periods, Phase
from topiccrawl.commands.why import watched
from topiccrawl.storage.crawls import CrawlLog
from topiccrawl.storage.pages import Pages, PageState, Role
from topiccrawl.storage.sqlite import SqliteStorage, SqliteStore

if TYPE_CHECKING:
    from pathlib import Path

NOW = time.time()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Store after a crawl an hour ago; since then one article is new, one changed, one is gone."""
    one, two, three = (article(f"{name}.test", "2020-03-01") for name in ("a", "b", "c"))
    two = replace(two, body="别的文章，很短。", digest="")
    log = CrawlLog(tmp_path)
    log.begin("桥", "frontier", NOW - 7200.0)
    log.begin("桥", "frontier", NOW - 3600.0)

    async def fill() -> None:
        store, pages = SqliteStore(tmp_path), Pages(SqliteStorage(tmp_path))
        await store.open()
        await pages.open()
        await store.save([one, two, three])
        await store.save([replace(two, body="改过的文章，也短。", fetched_at=NOW)])
        await pages.save(
            [
                PageState("桥", one.url, first_seen=NOW - 60.0),
                PageState("桥", two.url, first_seen=NOW - 9e5, changed_at=NOW - 50.0),
                PageState("桥", "http://gone.test/1", first_seen=NOW - 9e5, gone_at=NOW - 40.0),
                PageState("桥", "http://old.test/1", first_seen=NOW - 5000.0),
            ]
        )
        await pages.close()
        await store.close()

    asyncio.run(fill())
    return tmp_path


def show(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
    *arguments: str,
) -> str:
    where = ("-s", f"TOPICCRAWL_DATA_DIR={folder}")
    monkeypatch.setattr(sys, "argv", ["scrapy", "articles", *arguments, *where])
    with pytest.raises(SystemExit):
        cmdline.execute()
    return capsys.readouterr().out


def test_changes_since_the_last_run_are_listed_in_order(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    out = show(capsys, monkeypatch, folder, "changes")
    head, *lines = out.splitlines()
    assert head.endswith("1 new, 1 changed, 1 gone")
    assert [line.split()[0] for line in lines] == ["new", "changed", "gone"]
    assert "1 earlier text)" in lines[1]
    out = show(capsys, monkeypatch, folder, "changes", "--json", "--since", "1d")
    events = [json.loads(line) for line in out.splitlines()]
    assert [(event["event"], event["url"]) for event in events] == [
        ("new", "http://old.test/1"),
        ("new", "http://a.test/1.html"),
        ("changed", "http://b.test/1.html"),
        ("gone", "http://gone.test/1"),
    ]
    assert events[1]["title"] == "a.test的标题"
    out = show(capsys, monkeypatch, folder, "changes", "--since", "1d", "--until", "1h")
    assert "1 new, 0 changed, 0 gone" in out
    out = show(capsys, monkeypatch, folder, "changes", "--since", "1d", "--site", "B.test")
    assert "0 new, 1 changed, 0 gone" in out
    out = show(capsys, monkeypatch, folder, "changes", "--since", "1d", "--limit", "2", "--json")
    assert out.count("\n") == 2


def test_changes_of_a_template_count_from_its_last_period(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    name, storage = "软件公司-四川", SqliteStorage(tmp_path)

    async def fill() -> None:
        async with Periods(storage) as periods, Pages(storage) as pages:
            await periods.put(Period(name, 1, Phase.FINISHED, NOW - 9e5))
            await periods.put(Period(name, 2, started=NOW - 3600.0))
            seen = (NOW - 7200.0, NOW - 60.0)
            await pages.save([PageState(name, f"http://a.test/{at}", first_seen=at) for at in seen])

    asyncio.run(fill())
    out = show(capsys, monkeypatch, tmp_path, "changes", "--template", name)
    assert "1 new, 0 changed, 0 gone" in out


def test_earlier_versions_of_an_article_are_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    out = show(capsys, monkeypatch, folder, "show", "http://b.test/1.html")
    assert "before: b.test的标题 (8 characters" in out
    out = show(capsys, monkeypatch, folder, "show", "http://b.test/1.html", "--json")
    assert [version["body"] for version in json.loads(out)["versions"]] == ["别的文章，很短。"]


def test_why_shows_the_next_visit_of_a_page() -> None:
    visits = {"visits": 7, "gains": 2.5}
    hub = PageState(
        "桥", "http://a.test/", Role.HUB, checked_at=NOW, due=NOW + 60, more={"visits": visits}
    )
    lines = "\n".join(watched(hub))
    assert "7 visits" in lines
    assert "2.5 new articles" in lines
    assert "next at never" in "\n".join(watched(replace(hub, due=0.0, gone_at=NOW)))
