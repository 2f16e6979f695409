"""Template crawls of small webs, as a user starts them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from tests.crawl.run import run
from topiccrawl.demo.answers import Answer
from topiccrawl.demo.engine import Engine, Together
from topiccrawl.demo.server import DemoServer
from topiccrawl.stores.records import SqliteRecords

if TYPE_CHECKING:
    from pathlib import Path

    from topiccrawl.stores.records import Kept

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
    """Output and the server's log of a template crawl that begins at Baidu's shape."""
    log = data.with_suffix(".tsv")
    log.unlink(missing_ok=True)
    engine = Engine({QUERY: web.seeds})
    with DemoServer(Together([engine], web), log) as server:
        line = ["crawl", "template", "-a", "template=软件公司-四川", *more]
        line += ["-a", "discover=baidu:http://baidu.engine.test/s"]
        status, output = run(server.proxy, data, *line, **settings)
    assert status == 0, output
    return output, log.read_text()


def records(data: Path, *, gone: bool = False) -> dict[str, Kept]:
    async def read() -> dict[str, Kept]:
        store = SqliteRecords(data)
        await store.open()
        found = {one.entity: one async for one in store.select(gone=gone)}
        await store.close()
        return found

    return asyncio.run(read())


@pytest.mark.crawl
def test_a_second_period_finds_exactly_what_is_new_changed_and_gone(tmp_path: Path) -> None:
    web, data = Companies(12), tmp_path / "data"
    output, _ = crawl(data, web, "-a", "chance=0")
    first = records(data)
    assert sorted(first) == sorted(f"www.c{n}.test" for n in range(12)), output
    assert first["www.c3.test"].record.values("联系方式") == ("028-85120003",)

    web.write(3, "028-99999999")
    del web.pages["http://www.c4.test/lx.asp"]
    web.pages["http://www.c12.test/"] = web.pages["http://www.c1.test/"]
    web.write(12, "028-85120012")
    web.failing.add("http://www.c5.test/")
    output, log = crawl(data, web, "-a", "chance=0")
    now = records(data, gone=True)
    assert {name for name, one in now.items() if one.gone_at} == {"www.c4.test"}, output
    assert set(now) - set(first) == {"www.c12.test"}
    changed = {n for n, one in now.items() if n in first and one.changed_at > first[n].changed_at}
    assert changed == {"www.c3.test"}
    assert "1 new, 1 changed, 1 gone" in output
    assert log.count("http://www.c4.test/lx.asp") == 2  # gone only if it says so twice
