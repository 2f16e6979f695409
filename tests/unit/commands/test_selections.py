"""Tests of ``scrapy articles`` with both stores: selections, forgetting and exports."""

from __future__ import annotations

import asyncio
import csv
import json
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest
from lxml import etree

from tests.mongo_server import database_uri
from tests.unit.addons.url_patterns.test_patterns import scrapy
from topiccrawl.addons.mongodb.storage import MongoStorage
from topiccrawl.commands import articles
from topiccrawl.model import Article
from topiccrawl.storage.sqlite import SqliteStorage
from topiccrawl.storage.tables import Table
from topiccrawl.text.digest import digest_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from scrapy.settings import BaseSettings

    Run = Callable[..., tuple[int, str]]

TEXTS = {
    1: "第一家工厂本周开始回收动力电池，设备由当地企业制造，年底前全部投产。",
    2: "中超第七轮昨晚结束，主队在最后一分钟打进制胜一球，球迷庆祝到深夜。",
    3: "新能源汽车一月销量同比增长两成，出口占三成，新车型下半年陆续上市。",
}


def article(number: int) -> Article:
    return Article(
        f"http://site{number}.test/a",
        f"第{number}篇",
        TEXTS[number],
        site=f"site{number}.test",
        published=f"2026-01-0{number}T08:00:00+08:00",
        topics={"足球" if number == 2 else "汽车": 0.5},
        terms=(("电池", 1.0),),
        digest=digest_of(TEXTS[number]),
        noarchive=number == 3,
    )


@pytest.fixture(params=["mongo", "sqlite"])
def run(
    request: pytest.FixtureRequest,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Run:
    uri = ""
    if request.param == "mongo":
        uri = database_uri(request.getfixturevalue("mongo_uri"), tmp_path)
    where = {"MONGODB_URI": uri, "TOPICCRAWL_DATA_DIR": str(tmp_path / "data")}

    async def fill() -> None:
        storage = MongoStorage(uri) if uri else SqliteStorage(tmp_path / "data")
        store = storage.articles()
        await store.open()
        await store.save([article(n) for n in TEXTS])
        await store.close()

    asyncio.run(fill())
    options = [part for name, value in where.items() for part in ("-s", f"{name}={value}")]
    return lambda *arguments: scrapy(capsys, monkeypatch, "articles", *arguments, *options)


def test_without_a_recorded_crawl_all_articles_are_listed(run: Run) -> None:
    status, out = run("list")
    assert (status, len(out.splitlines())) == (0, len(TEXTS))
    status, out = run("changes")
    assert (status, "--topic TOPIC" in out) == (1, True)
    status, out = run("changes", "--topic", "汽车", "--since", "1d")
    assert (status, "0 new" in out, "-a watch=1" in out) == (0, True, True)


def test_articles_are_listed_searched_shown_and_forgotten(run: Run) -> None:
    status, out = run("list", "--all", "--since", "2026-01-02")
    assert (status, out.split()[-1]) == (0, "http://site2.test/a")
    assert [line.split()[-1] for line in out.splitlines()] == [article(n).url for n in (3, 2)]
    assert run("search", "回收", "电池", "--all")[1].split()[-1] == article(1).url
    assert run("search", "飞机", "--all")[1].endswith("no matching article of any topic\n")
    assert TEXTS[1] in run("show", article(1).url)[1]
    assert TEXTS[3] not in run("show", article(3).url)[1]
    assert (
        run("forget", article(1).url, "site2.test")[0] == 1
    )  # no URL, no site: nothing is deleted
    assert run("forget", article(1).url, "site:Site2.test")[1].startswith("2 articles deleted")
    assert run("show", article(1).url)[0] == 1
    assert run("list", "--all", "--json")[1].count("\n") == 1


def test_slow_search_says_why(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "still searching" not in run("search", "飞机", "--all")[1]
    monkeypatch.setattr(articles, "PATIENCE", 0.0)
    assert "still searching" in run("search", "飞机", "--all")[1]
    assert "still searching" not in run("list", "--all")[1]


def erased(settings: BaseSettings, names: Sequence[str]) -> list[str]:
    return [f"{settings['BOT_NAME']} erased {' '.join(names)}"]


def test_forget_calls_the_functions_of_its_setting(run: Run) -> None:
    own = ("-s", f'TOPICCRAWL_FORGET={{"{__name__}.erased": 1}}')
    erased = f"topiccrawl erased {article(1).url} site:site2.test\n"
    expected = f"2 articles deleted, which will not be stored again\n{erased}"
    assert run("forget", article(1).url, "site:site2.test", *own) == (0, expected)
    wrong = ("-s", 'TOPICCRAWL_FORGET={"topiccrawl.nowhere.erased": 1}')
    status, out = run("forget", article(3).url, *wrong)
    assert (status, "TOPICCRAWL_FORGET" in out) == (1, True)
    assert run("show", article(3).url)[0] == 0  # nothing was deleted


def test_exports_hold_selected_articles_without_noarchive_texts(run: Run, tmp_path: Path) -> None:
    files = {suffix: tmp_path / f"out{suffix}" for suffix in (".jsonl", ".csv", ".parquet")}
    for file in files.values():
        assert run("export", str(file), "--topic", "汽车") == (0, f"{file}: 2 articles\n")
    lines = [json.loads(line) for line in files[".jsonl"].read_text("utf-8").splitlines()]
    assert [line["url"] for line in lines] == [article(n).url for n in (3, 1)]
    assert [line["body"] for line in lines] == ["", TEXTS[1]]
    assert lines[1] == Table("汽车").row(article(1))
    with files[".csv"].open(encoding="utf-8-sig", newline="") as opened:
        rows = list(csv.DictReader(opened))
    assert [row["body"] for row in rows] == ["", TEXTS[1]]
    assert (rows[1]["topics"], rows[1]["score"]) == ("汽车 0.50", "0.5")
    table = pq.read_table(files[".parquet"]).to_pylist()
    assert [row["title"] for row in table] == ["第3篇", "第1篇"]
    assert table[1]["topics"] == [("汽车", 0.5)]
    feed = tmp_path / "feed.atom"
    assert run("export", str(feed), "--all", "--limit", "2") == (0, f"{feed}: 2 articles\n")
    entries = etree.parse(str(feed)).getroot().findall("{*}entry")
    assert [entry.findtext("{*}id") for entry in entries] == [article(n).url for n in (3, 2)]
    assert [entry.findtext("{*}summary") for entry in entries] == [None, TEXTS[2]]
    assert run("export", str(tmp_path / "out.xml"), "--all")[0] == 1
    assert run("list", "--since", "soon", "--all")[0] == 1
    assert len(list(tmp_path.glob("*out*"))) == 3
