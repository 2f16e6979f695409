"""Template crawls of small webs, as a user starts them."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from typing_extensions import override

from benchmarks.template_crawl import measure
from lab.demo.answers import Answer
from lab.demo.engine import Engine, Together
from lab.demo.server import DemoServer
from tests.crawl.run import run, running
from topiccrawl.addons.records.records import Records
from topiccrawl.storage.runs import LocalRuns
from topiccrawl.storage.sqlite import SqliteStorage

if TYPE_CHECKING:
    from pathlib import Path

    from topiccrawl.addons.records.records import StoredRecord

QUERY = "四川 软件公司"


class Companies:
    """Company sites that may change between two crawls: page URL to HTML."""

    def __init__(self, count: int) -> None:
        self.pages: dict[str, str] = {}
        self.failing: set[str] = set()
        for number in range(count):
            self.pages[f"http://www.c{number}.test/"] = (
                f"<title>第{number}软件</title><p>欢迎光临</p><a href='lx.asp'>联系方式</a>"
            )
            self.write(number, f"028-8512{number:04}")

    def write(self, number: int, phone: str) -> None:
        self.pages[f"http://www.c{number}.test/lx.asp"] = (
            f"<title>联系我们</title><p>名称：第{number}软件公司</p><p>电话：{phone}</p>"
        )

    @property
    def seeds(self) -> list[tuple[str, str]]:
        return [(url, "软件公司") for url in self.pages if url.endswith("/")]

    def answer(self, url: str, visit: int = 0, cookie: str = "") -> Answer:
        if url in self.failing:
            return Answer(503)
        text = self.pages.get(url)
        header = (("Content-Type", "text/html; charset=utf-8"),)
        return Answer(200, header, text.encode()) if text else Answer(404)


def crawl(data: Path, web: Companies, *more: str, **settings: Any) -> tuple[str, str]:
    """Run a template crawl with a search engine; return its output and the server's log."""
    log = data.with_suffix(".tsv")
    log.unlink(missing_ok=True)
    engine = Engine({QUERY: web.seeds})
    with DemoServer(Together(engine, web), log) as server:
        line = ["crawl", "template", "-a", "template=软件公司-四川", *more]
        line += ["-a", "discover=baidu:http://baidu.engine.test/s"]
        status, output = run(server.proxy, data, *line, **settings)
    assert status == 0, output
    return output, log.read_text()


def records(data: Path, *, gone: bool = False) -> dict[str, StoredRecord]:
    async def read() -> dict[str, StoredRecord]:
        store = Records(SqliteStorage(data))
        await store.open()
        found = {one.entity: one async for one in store.select(gone=gone)}
        await store.close()
        return found

    return asyncio.run(read())


@pytest.mark.crawl
@pytest.mark.slow
def test_second_period_finds_new_changed_and_gone_records(tmp_path: Path) -> None:
    web, data = Companies(12), tmp_path / "data"
    output, _ = crawl(data, web, "-a", "chance=0")
    first = records(data)
    assert sorted(first) == sorted(f"c{n}.test" for n in range(12)), output
    assert "item_dropped" not in output  # its steps are not dropped results
    assert "'topiccrawl/template/records/new': 12" in output
    assert "'topiccrawl/template/seeds/done': 12" in output
    assert first["c3.test"].record.values("联系方式") == ("+86 28 8512 0003",)
    (entry,) = asyncio.run(LocalRuns(data).all())
    assert entry.state["run"]["spider"] == "template"
    totals = entry.state["totals"]
    assert (totals["pages"], totals["relevant"], totals["articles"]) == (24, 12, 12)
    assert entry.state["series"]["points"][-1][1:3] == [24, 12], "half of the pages had records"

    web.write(3, "028-85129999")
    del web.pages["http://www.c4.test/lx.asp"]
    web.pages["http://www.c12.test/"] = web.pages["http://www.c1.test/"]
    web.write(12, "028-85120012")
    web.failing.add("http://www.c5.test/")
    feed = tmp_path / "feed.jsonl"
    output, log = crawl(data, web, "-a", "chance=0", "-a", "since=last", "-o", str(feed),
                        RETRY_TIMES="1")  # fmt: skip
    now = records(data, gone=True)
    assert {name for name, one in now.items() if one.gone_at} == {"c4.test"}, output
    assert set(now) - set(first) == {"c12.test"}
    changed = {n for n, one in now.items() if n in first and one.changed_at > first[n].changed_at}
    assert changed == {"c3.test"}
    assert "1 new, 1 changed, 1 gone" in output
    assert log.count("http://www.c4.test/lx.asp") == 2  # gone only after a second request
    events = [json.loads(line) for line in feed.read_text().splitlines() if '"event"' in line]
    assert sorted((one["event"], one["url"]) for one in events) == [
        ("changed", "http://www.c3.test/lx.asp"),
        ("gone", "http://www.c4.test/lx.asp"),
        ("new", "http://www.c12.test/lx.asp"),
    ]


@pytest.mark.crawl
@pytest.mark.slow
def test_two_periods_of_generated_companies_match_the_truth(tmp_path: Path) -> None:
    """Records and changes are right for layouts that were not used for tuning."""
    first, second = measure(tmp_path, seed=4, companies=8, group="judging")
    assert (first.missing, first.needless, first.wrong) == (0, 0, ())
    assert first.field_precision >= 0.97
    assert first.field_recall >= 0.93
    assert (second.missing, second.needless, second.wrong) == (0, 0, ())
    assert min(second.new, second.changed, second.gone) >= 1


class Directory(Companies):
    """Two pages of a directory whose links lead to companies' pages, as seed 7 of the source."""

    def __init__(self) -> None:
        super().__init__(6)
        for page, numbers in enumerate(([0, 1, 2], [2, 3, 4]), 1):
            links = "".join(f"<li><a href='/card/{n}.html'>联系方式</a></li>" for n in numbers)
            onward = "<a href='/list?page=2'>下一页</a><a href='/list?page=3'>3</a>"
            self.pages[f"http://www.yp.test/list?page={page}"] = f"<ul>{links}</ul>{onward}"
        for n in range(5):
            self.pages[f"http://www.yp.test/card/{n}.html"] = (
                f"<title>名片</title><p>名称：第{n}软件公司</p><p>电话：028-8512{n:04}</p>"
            )
        self.pages["http://www.one.test/"] = "<p>名称：一页软件公司</p><p>电话：028-86660000</p>"
        self.pages |= {
            "http://www.moved.test/": "<script>location.href = '/cn/'</script>",
            "http://www.moved.test/cn/": "<a href='lx.asp'>联系方式</a>",
            "http://www.moved.test/cn/lx.asp": "<p>名称：转向软件公司</p><p>电话：028-86660001</p>",
        }

    @property
    @override
    def seeds(self) -> list[tuple[str, str]]:
        return [
            ("http://www.yp.test/list?page=1", "黄页"),
            ("http://www.one.test/", "一页公司"),
            ("http://www.moved.test/", "转向公司"),
        ]


@pytest.mark.crawl
def test_layers_next_pages_redirects_and_single_page_sites_are_crawled(
    tmp_path: Path,
) -> None:
    web, data = Directory(), tmp_path / "data"
    output, log = crawl(data, web, "-a", "chance=0")
    found = {one.record.name: one for one in records(data).values()}
    directory = {f"第{n}软件公司" for n in range(5)}
    assert set(found) == directory | {"一页软件公司", "转向软件公司"}, output
    assert found["一页软件公司"].entity == "one.test"
    assert found["第4软件公司"].entity == "http://www.yp.test/card/4.html"
    urls = [line.split("\t")[-1] for line in log.splitlines() if "/card/" in line]
    assert len(urls) == len(set(urls)) == 5  # one of them is on both pages


@pytest.mark.usefixtures("no_coverage")
@pytest.mark.crawl
@pytest.mark.usefixtures("no_coverage")
@pytest.mark.slow
def test_killed_and_restarted_crawl_finds_the_same_records(tmp_path: Path) -> None:
    web = Companies(18)
    crawl(tmp_path / "whole", web)
    whole = {name: one.record for name, one in records(tmp_path / "whole").items()}
    assert 6 <= len(whole) < 18  # some are skipped by chance
    data = tmp_path / "killed"
    draw = random.Random(3)  # noqa: S311
    engine = Engine({QUERY: web.seeds})
    log = tmp_path / "access.tsv"
    line = [
        "crawl",
        "template",
        "-a",
        "template=软件公司-四川",
        "-a",
        "discover=baidu:http://baidu.engine.test/s",
    ]
    with DemoServer(Together(engine, web), log) as server:
        for _ in range(2):
            answers = log.read_bytes().count(b"\n") + draw.randint(8, 25)
            with running(server.proxy, data, *line) as process:
                while process.poll() is None and log.read_bytes().count(b"\n") < answers:
                    time.sleep(0.01)
        status, output = run(server.proxy, data, *line)
    assert status == 0, output
    assert {name: one.record for name, one in records(data).items()} == whole
    again = Counter(
        line.split("\t")[-1] for line in log.read_text().splitlines() if "lx.asp" in line
    )
    assert sum(again.values()) - len(again) <= 2 * 8  # in flight, or not committed yet
